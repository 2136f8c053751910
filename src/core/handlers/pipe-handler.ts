import type { ConsumeContext, ConsumeResult, Handler, MessageListener } from '../client/listener.ts'
import type { MessageExt } from '../model/message.ts'
import type { Runtime } from '../model/runtime.ts'
import { systemRuntime } from '../system-runtime.ts'
import { batchResult } from './batch-result.ts'
import { ENDED_BY_STOP, LOCK_LOST } from './outcomes.ts'
import { PipeProcess } from './pipe-process.ts'
import type { Answer } from './runner.ts'
import { type RestartOptions, RunnerKeeper } from './runner-keeper.ts'

const KILL_GRACE_MS = 2_000

export interface PipeHandlerOptions {
  /** Run through `sh -c`, once for all messages. */
  readonly command: string
  /** What the command inherits. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Gets its stderr, and the lines of its stdout that settle nothing. */
  readonly onStderr?: (chunk: Buffer) => void
  readonly restart?: RestartOptions
  /** Time for each step of an end (end of input, TERM, KILL), in milliseconds. Default 2000. */
  readonly killGraceMs?: number
  readonly runtime?: Runtime
}

/**
 * A listener that gives messages to one long-lived command: a record a line on its stdin, a status a line on its
 * stdout, `{"id":msgId,"status":"success"|"retry"|"dead-letter"|"commit"|"rollback","error"?:…,"suspendMs"?:…}`. The
 * messages of all runs that are in flight are outstanding at once, and are answered in any order.
 *
 * A command that ends fails what it had read, as `retry`, and is started again, as `RunnerKeeper` says. What lay unread
 * in its stdin it never had: the next run gets that, and no attempt is counted. Exit 126 or 127 ends the consumer at
 * once (HANDLER_NOT_FOUND).
 *
 * Each message of a batch has its own result; where order is kept the batch has that of its first failure as a whole.
 */
export class PipeHandler implements Handler {
  readonly kind = 'process'
  readonly consume: MessageListener = (messages, context) =>
    this.#keeper.serve(context.signal, giver(messages, context))
  readonly #keeper: RunnerKeeper<PipeProcess>

  constructor(options: PipeHandlerOptions) {
    const runtime = options.runtime ?? systemRuntime
    const process = {
      command: options.command,
      env: options.env ?? globalThis.process.env,
      onStderr: options.onStderr ?? (() => {}),
      killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
      runtime,
    }
    this.#keeper = new RunnerKeeper({
      start: () => PipeProcess.start(process),
      runtime,
      restart: options.restart,
    })
  }

  /** Ends the input of the command and waits for its end, at most for the grace; then by TERM and KILL. */
  close(): Promise<void> {
    return this.#keeper.close()
  }
}

/** Gives the messages of one run to process after process, until each has an answer. */
function giver(
  messages: readonly MessageExt[],
  context: ConsumeContext,
): (run: PipeProcess) => Promise<ConsumeResult | undefined> {
  let answers: readonly Answer[] = messages.map(() => undefined)
  return async (run) => {
    const isOurs = await context.runsIn(run.process)
    if (context.signal.aborted) return ENDED_BY_STOP
    if (!isOurs) return LOCK_LOST
    const open = messages.filter((_, index) => answers[index] === undefined)
    const more = (await run.deliver(open)).values()
    answers = answers.map((answer) => answer ?? more.next().value)
    return isComplete(answers) ? batchResult(answers) : undefined
  }
}

function isComplete(answers: readonly Answer[]): answers is readonly ConsumeResult[] {
  return !answers.includes(undefined)
}
