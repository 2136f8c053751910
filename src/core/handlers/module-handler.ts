import type { Handler, MessageListener } from '../client/listener.ts'
import type { Runtime } from '../model/runtime.ts'
import { systemRuntime } from '../system-runtime.ts'
import { ModuleRun } from './module-run.ts'
import { type RestartOptions, RunnerKeeper } from './runner-keeper.ts'

const KILL_GRACE_MS = 2_000

export interface ModuleHandlerOptions {
  /** The module, relative to the working directory: `.mjs`, `.js`, `.cjs`, and `.ts` where Node runs that. */
  readonly file: string
  /** Above 1, its listener takes a list of messages; else one message. Default 1. */
  readonly batch?: number
  /** Gets what the module prints, to its stdout too: the stdout of this process is for data. */
  readonly onStderr?: (chunk: Buffer) => void
  readonly restart?: RestartOptions
  /** Time that a stop leaves to calls that run, in milliseconds. Default 2000. */
  readonly killGraceMs?: number
  readonly runtime?: Runtime
}

/**
 * A listener that calls the default export of a user's module, `ModuleListener`, in a worker thread: a module that
 * computes for minutes does not keep this thread from renewing its locks. Calls of several runs are in flight at once.
 *
 * The module is loaded by the first message, or by `open`; HANDLER_NOT_FOUND when it cannot be. When it exits, or throws
 * outside of its listener, the calls that had begun fail, as `retry`, and a new thread is started, as `RunnerKeeper`
 * says; calls that had not begun wait for that one, and no attempt is counted.
 */
export class ModuleHandler implements Handler {
  /** A thread dies with its process: a start needs no record that outlives it. */
  readonly kind = 'function'
  readonly consume: MessageListener = (messages, context) =>
    this.#keeper.serve(context.signal, (run) => run.deliver(messages, context))
  readonly #keeper: RunnerKeeper<ModuleRun>

  constructor(options: ModuleHandlerOptions) {
    const runtime = options.runtime ?? systemRuntime
    const run = {
      file: options.file,
      isBatch: (options.batch ?? 1) > 1,
      onStderr: options.onStderr ?? (() => {}),
      killGraceMs: options.killGraceMs ?? KILL_GRACE_MS,
      runtime,
    }
    this.#keeper = new RunnerKeeper({ start: () => ModuleRun.start(run), runtime, restart: options.restart })
  }

  /** Loads the module before there is a message. HANDLER_NOT_FOUND when that cannot be, HANDLER_FAILED when it ends. */
  open(): Promise<void> {
    return this.#keeper.open()
  }

  /** Ends the thread, after the grace also when calls still run in it. */
  close(): Promise<void> {
    return this.#keeper.close()
  }
}
