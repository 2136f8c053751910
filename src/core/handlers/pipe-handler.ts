import type { ConsumeContext, ConsumeResult, Handler, MessageListener } from '../client/listener.ts'
import { RmqError } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import { type Runtime, sleep } from '../model/runtime.ts'
import { systemRuntime } from '../system-runtime.ts'
import { onAbort } from './on-abort.ts'
import { ENDED_BY_STOP, LOCK_LOST } from './outcomes.ts'
import { type Answer, PipeProcess, type PipeProcessOptions } from './pipe-process.ts'
import { describeEnd, isNotRunnable, type ProcessEnd } from './process-end.ts'
import { notRunnable } from './shell.ts'

const KILL_GRACE_MS = 2_000
const RESTART: Required<PipeRestart> = { startsMax: 5, backoffMs: 100, backoffMaxMs: 5_000 }

export interface PipeRestart {
  /** Starts in a row that ended before any message was given, until HANDLER_FAILED. Default 5. */
  readonly startsMax?: number
  /** First back-off, doubled up to `backoffMaxMs`, in milliseconds. Default 100 and 5000. */
  readonly backoffMs?: number
  readonly backoffMaxMs?: number
}

export interface PipeHandlerOptions {
  /** Run through `sh -c`, once for all messages. */
  readonly command: string
  /** What the command inherits. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Gets its stderr, and the lines of its stdout that settle nothing. */
  readonly onStderr?: (chunk: Buffer) => void
  readonly restart?: PipeRestart
  /** Time for each step of an end (end of input, TERM, KILL), in milliseconds. Default 2000. */
  readonly killGraceMs?: number
  readonly runtime?: Runtime
}

/**
 * A listener that gives messages to one long-lived command: a record a line on its stdin, a status a line on its
 * stdout, `{"id":msgId,"status":"success"|"retry"|"dead-letter","error"?:…,"suspendMs"?:…}`, in any order.
 *
 * A command that ends fails what it had, as `retry`, and is started again. After a failed run a new one has to
 * live through the back-off before it is given anything. That tells a command that cannot start from one that dies
 * of a message: the first ends the consumer after some starts in a row (HANDLER_FAILED) and no message is charged
 * for it; the second is the message's failure, and its attempts decide. Exit 126 or 127 ends the consumer at once
 * (HANDLER_NOT_FOUND).
 *
 * A batch is a success when all its messages are; else its result is that of the first that failed, and all of it is
 * tried again (or dead-lettered) as a whole, as a batch of RocketMQ's orderly listener is.
 */
export class PipeHandler implements Handler {
  readonly kind = 'process'
  readonly consume: MessageListener = (messages, context) => this.#consume(messages, context)
  readonly #process: PipeProcessOptions
  readonly #restart: Required<PipeRestart>
  readonly #runtime: Runtime
  /** The run that takes messages. */
  #current: PipeProcess | undefined
  /** The run that has started last, also while it has to prove itself. */
  #latest: PipeProcess | undefined
  #starting: Promise<PipeProcess | undefined> | undefined
  #failedRuns = 0
  #failedStarts = 0
  readonly #closing = new AbortController()

  constructor(options: PipeHandlerOptions) {
    this.#runtime = options.runtime ?? systemRuntime
    this.#restart = { ...RESTART, ...options.restart }
    this.#process = {
      command: options.command,
      env: options.env ?? process.env,
      onStderr: options.onStderr ?? (() => {}),
      killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
      runtime: this.#runtime,
    }
  }

  /** Ends the input of the command and waits for its end, at most for the grace; then by TERM and KILL. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#starting?.catch(() => {})
    await this.#latest?.stop()
  }

  #consume(messages: readonly MessageExt[], context: ConsumeContext): Promise<ConsumeResult> {
    const { signal } = context
    if (signal.aborted || this.#closing.signal.aborted) return Promise.resolve(ENDED_BY_STOP)
    return new Promise((resolve, reject) => {
      const leave = onAbort(signal, () => void this.#stopFor(resolve))
      this.#attempt(messages, context).finally(leave).then(resolve, reject)
    })
  }

  async #stopFor(resolve: (result: ConsumeResult) => void): Promise<void> {
    await this.#latest?.stop()
    // Behind the answers that came with its last words.
    this.#runtime.defer(() => resolve(ENDED_BY_STOP))
  }

  async #attempt(messages: readonly MessageExt[], context: ConsumeContext): Promise<ConsumeResult> {
    for (;;) {
      const run = this.#current ?? (await this.#start())
      if (context.signal.aborted || this.#closing.signal.aborted) return ENDED_BY_STOP
      if (run === undefined) continue
      const isOurs = await context.runsIn(run.process)
      if (context.signal.aborted || this.#closing.signal.aborted) return ENDED_BY_STOP
      if (!isOurs) return LOCK_LOST
      const [only] = messages
      const answers =
        messages.length === 1 && only !== undefined
          ? [await run.deliver(only)]
          : await Promise.all(messages.map((message) => run.deliver(message)))
      if (answers.some((answer) => answer !== undefined)) return resultOf(answers)
      // It ended before it was given any of them: nobody is to blame, the next run gets them.
    }
  }

  #start(): Promise<PipeProcess | undefined> {
    this.#starting ??= this.#startProven().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** `undefined` when a stop came first. */
  async #startProven(): Promise<PipeProcess | undefined> {
    for (;;) {
      const run = await PipeProcess.start(this.#process)
      this.#latest = run
      const ended = run.ended.then((end) => this.#count(run, end))
      await sleep(this.#runtime, this.#backoffMs(), this.#closing.signal)
      if (run.isStopping || this.#closing.signal.aborted) return undefined
      if (!run.hasEnded) {
        this.#current = run
        return run
      }
      await ended
      this.#judge(run, await run.ended)
    }
  }

  #backoffMs(): number {
    if (this.#failedRuns === 0) return 0
    return Math.min(this.#restart.backoffMs * 2 ** (this.#failedRuns - 1), this.#restart.backoffMaxMs)
  }

  #count(run: PipeProcess, end: ProcessEnd): void {
    if (this.#current === run) this.#current = undefined
    if (run.isStopping) return
    const { given, answered, succeeded } = run.tally
    const isDone = end.code === 0 && given > 0 && answered === given
    this.#failedRuns = isDone ? 0 : succeeded > 0 ? 1 : this.#failedRuns + 1
    this.#failedStarts = given > 0 ? 0 : this.#failedStarts + 1
  }

  /** It ended before it could be given anything. */
  #judge(run: PipeProcess, end: ProcessEnd): void {
    const { command } = this.#process
    if (isNotRunnable(end)) throw notRunnable(command, end, run.complaint)
    const starts = this.#failedStarts
    if (starts < this.#restart.startsMax) return
    this.#failedStarts = 0
    throw new RmqError(
      'HANDLER_FAILED',
      `the handler ended ${starts} times before it took a message: ${command}`,
      {
        why: [describeEnd(end), run.complaint].filter((text) => text !== '').join(': '),
        hint: 'run the command by hand; it has to read records from stdin until the end of its input',
        details: { command, starts, exitCode: end.code, signal: end.signal },
      },
    )
  }
}

/** Of a batch: the first failure. What was never given, beside others that were, failed with them. */
function resultOf(answers: readonly Answer[]): ConsumeResult {
  for (const answer of answers) {
    if (answer === undefined) return { status: 'retry', error: 'handler ended before it got the message' }
    if (answer.status !== 'success') return answer
  }
  return { status: 'success' }
}
