import type { ConsumeContext, ConsumeResult, Handler, MessageListener } from '../client/listener.ts'
import { RmqError } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import { recordLine } from '../model/message-record.ts'
import type { Runtime } from '../model/runtime.ts'
import { systemRuntime } from '../system-runtime.ts'
import { execEnvironment } from './exec-environment.ts'
import { ExecRun, type ExecRunOptions } from './exec-run.ts'
import { onAbort } from './on-abort.ts'
import { ENDED_BY_STOP } from './outcomes.ts'
import { withPrivateFile } from './private-file.ts'
import { type GatedShell, startGatedShell } from './shell.ts'

const KILL_GRACE_MS = 2_000

export interface ExecHandlerOptions {
  /** Run through `sh -c`, once for each batch. */
  readonly command: string
  /** Above 1, stdin is NDJSON, one record a line; else it is the body alone. Default 1. */
  readonly batch?: number
  /** What the command inherits. Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** Gets what the command writes to its stderr, of which the end is also kept as the error. */
  readonly onStderr?: (chunk: Buffer) => void
  /** Gets what it writes to its stdout. Default: it writes to this process's own. */
  readonly onStdout?: (chunk: Buffer) => void
  /** Time between TERM and KILL when a stop ends it, in milliseconds. Default 2000. */
  readonly killGraceMs?: number
  readonly runtime?: Runtime
}

/**
 * A listener that runs a command for each batch.
 *
 * Exit 0 is success, 65 dead-letters, 126 and 127 end the consumer (HANDLER_NOT_FOUND), anything else, and a signal,
 * is tried again. The error is the end of its stderr, else `exit 1` or `signal SIGSEGV`. Stdin is complete before the
 * command starts; the command starts only when `runsIn` has recorded its process; it leads a process group of its
 * own, and a stop ends the whole group. Processes that it leaves in the background by itself are left alone.
 */
export class ExecHandler implements Handler {
  readonly kind = 'process'
  readonly consume: MessageListener = (messages, context) => this.#consume(messages, context)
  readonly #options: ExecHandlerOptions
  readonly #runOptions: ExecRunOptions
  readonly #runs = new Set<ExecRun>()
  #isClosed = false

  constructor(options: ExecHandlerOptions) {
    this.#options = options
    this.#runOptions = {
      command: options.command,
      onStdout: options.onStdout,
      onStderr: options.onStderr,
      killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
      runtime: options.runtime ?? systemRuntime,
    }
  }

  /** Ends what still runs, as a stop does. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#runs].map((run) => run.stop()))
  }

  async #consume(messages: readonly MessageExt[], context: ConsumeContext): Promise<ConsumeResult> {
    if (this.#isClosed || context.signal.aborted) return ENDED_BY_STOP
    const run = new ExecRun(await this.#start(messages, context), this.#runOptions)
    this.#runs.add(run)
    // A signal that was aborted while the shell started calls at once; a close has to be looked for.
    const leave = onAbort(context.signal, () => void run.stop())
    if (this.#isClosed) void run.stop()
    try {
      return await run.result(context)
    } finally {
      leave()
      this.#runs.delete(run)
    }
  }

  #start(messages: readonly MessageExt[], context: ConsumeContext): Promise<GatedShell> {
    const isBatch = (this.#options.batch ?? 1) > 1
    const stdin = isBatch ? linesOf(messages) : (messages[0]?.body ?? Buffer.alloc(0))
    const about = { bytes: stdin.length, isBatch }
    const env = execEnvironment(this.#options.env ?? process.env, messages, context, about)
    return withPrivateFile(stdin, (fd) => this.#spawn(fd, env))
  }

  async #spawn(fd: number, env: NodeJS.ProcessEnv): Promise<GatedShell> {
    const stdio = [fd, this.#options.onStdout === undefined ? 'inherit' : 'pipe', 'pipe'] as const
    const { command } = this.#options
    try {
      return await startGatedShell({ command, env, stdio })
    } catch (error) {
      if (!isTooBig(error) || env.RMQ_PROPERTIES === undefined) throw error
      const { RMQ_PROPERTIES: _, ...smaller } = env
      return await startGatedShell({ command, env: smaller, stdio })
    }
  }
}

function linesOf(messages: readonly MessageExt[]): Buffer {
  return Buffer.from(messages.map((message) => `${recordLine(message)}\n`).join(''))
}

function isTooBig(error: unknown): boolean {
  const cause = error instanceof RmqError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'E2BIG'
}
