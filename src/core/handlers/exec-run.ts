import type { ConsumeContext, ConsumeResult } from '../client/listener.ts'
import type { Runtime } from '../model/runtime.ts'
import { StderrTail } from './error-text.ts'
import { ENDED_BY_STOP, LOCK_LOST } from './outcomes.ts'
import { describeEnd, endGroup, endOf, isNotRunnable, type ProcessEnd } from './process-end.ts'
import { type GatedShell, notRunnable } from './shell.ts'

/** EX_DATAERR of sysexits.h: these data will never do. */
const DEAD_LETTER_EXIT_CODE = 65

export interface ExecRunOptions {
  readonly command: string
  readonly onStderr: ((chunk: Buffer) => void) | undefined
  readonly onStdout: ((chunk: Buffer) => void) | undefined
  readonly killGraceMs: number
  readonly runtime: Runtime
}

/** One command from its start to its end. */
export class ExecRun {
  readonly #shell: GatedShell
  readonly #options: ExecRunOptions
  readonly #stderr = new StderrTail()
  readonly #end: Promise<ProcessEnd>
  #stopped: Promise<void> | undefined

  constructor(shell: GatedShell, options: ExecRunOptions) {
    this.#shell = shell
    this.#options = options
    const { stdout, stderr } = shell.child
    stdout?.on('data', (chunk: Buffer) => options.onStdout?.(chunk))
    stderr?.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk)
      options.onStderr?.(chunk)
    })
    this.#end = endOf(shell.child, options.runtime)
  }

  async result(context: ConsumeContext): Promise<ConsumeResult> {
    try {
      const isOurs = await context.runsIn(this.#shell.process)
      if (!isOurs) return LOCK_LOST
      if (this.#stopped === undefined) this.#shell.go()
      const end = await this.#end
      await this.#stopped
      return this.#stopped === undefined ? this.#judge(end) : ENDED_BY_STOP
    } finally {
      // Whichever way was taken: a command that was not let go never runs.
      this.#shell.cancel()
      await this.#end
    }
  }

  /** Ends its process group: TERM, then KILL after the grace. */
  stop(): Promise<void> {
    const { child } = this.#shell
    // What it said with its exit stands.
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    const { killGraceMs, runtime } = this.#options
    this.#stopped ??= endGroup(this.#shell.process.pid, killGraceMs, runtime)
    return this.#stopped
  }

  #judge(end: ProcessEnd): ConsumeResult {
    if (end.code === 0) return { status: 'success' }
    const stderr = this.#stderr.text()
    if (isNotRunnable(end)) throw notRunnable(this.#options.command, end, stderr)
    const error = stderr === '' ? describeEnd(end) : stderr
    return { status: end.code === DEAD_LETTER_EXIT_CODE ? 'dead-letter' : 'retry', error }
  }
}
