import type { ConsumeResult } from '../client/listener.ts'
import { LAST_ERROR_BYTES_MAX } from '../model/limits.ts'
import type { HandlerProcess } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import { type Runtime, sleep } from '../model/runtime.ts'
import { clipStart, StderrTail } from './error-text.ts'
import { InputPipe } from './input-pipe.ts'
import { LineSplitter } from './line-splitter.ts'
import { ENDED_BY_STOP } from './outcomes.ts'
import { OutstandingMessages } from './outstanding.ts'
import { describeEnd, endGroup, endOf, isNotRunnable, type ProcessEnd } from './process-end.ts'
import { RecordWriter } from './record-writer.ts'
import { endedBeforeWork } from './restart-failure.ts'
import type { Answer, Runner, Tally } from './runner.ts'
import { notRunnable, type Shell, startShell } from './shell.ts'
import { parseStatusLine } from './status-line.ts'

export interface PipeProcessOptions {
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  readonly onStderr: (chunk: Buffer) => void
  readonly killGraceMs: number
  readonly runtime: Runtime
}

/** How far a line that is no status is shown. */
const SHOWN_BYTES_MAX = 64 * 1024

/** One run of a piped command: records to its stdin, status lines from its stdout, in any order. */
export class PipeProcess implements Runner {
  readonly process: HandlerProcess
  readonly ready = Promise.resolve()
  /** Resolves when it has ended, its answers were read, and everything outstanding was settled. */
  readonly ended: Promise<void>
  readonly #options: PipeProcessOptions
  readonly #stderr = new StderrTail()
  readonly #outstanding: OutstandingMessages
  readonly #writer: RecordWriter
  readonly #tally: Tally = { taken: 0, answered: 0, succeeded: 0 }
  /** The first record that it did not take. */
  #firstUnread = Number.POSITIVE_INFINITY
  #end: ProcessEnd | undefined
  #isStopping = false
  #termination: Promise<void> | undefined

  /** HANDLER_FAILED when no process can be started. */
  static async start(options: PipeProcessOptions): Promise<PipeProcess> {
    const { command, env } = options
    const input = await InputPipe.create()
    try {
      const shell = await startShell({ command, env, stdio: [input.childEnd, 'pipe', 'pipe'] })
      return new PipeProcess(shell, input, options)
    } catch (error) {
      input.takeBack()
      throw error
    } finally {
      input.closeChildEnd()
    }
  }

  private constructor(shell: Shell, input: InputPipe, options: PipeProcessOptions) {
    const { stdout, stderr } = shell.child
    if (stdout === null || stderr === null) throw new TypeError('a pipe of the handler is missing')
    this.process = shell.process
    this.#options = options
    this.#writer = new RecordWriter(input, options.runtime)
    this.#outstanding = new OutstandingMessages((delivery) => this.#writer.write(delivery))
    const lines = new LineSplitter((line, isCut) => this.#onLine(line, isCut))
    stdout.on('data', (chunk: Buffer) => lines.push(chunk))
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk)
      options.onStderr(chunk)
    })
    // A handler that closed its stdin takes nothing more, one that closed its stdout answers nothing more.
    input.stdin.on('error', () => void this.#terminate())
    stdout.on('end', () => {
      lines.end()
      void this.#terminate()
    })
    this.ended = endOf(shell.child, options.runtime).then((end) => this.#onEnd(end))
  }

  get tally(): Readonly<Tally> {
    return this.#tally
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get isDone(): boolean {
    const { taken, answered } = this.#tally
    return this.#end?.code === 0 && taken > 0 && answered === taken
  }

  failure(starts: number) {
    const { command } = this.#options
    const end = this.#end ?? { code: null, signal: null }
    const complaint = this.#stderr.text()
    if (isNotRunnable(end)) return notRunnable(command, end, complaint)
    return endedBeforeWork(command, starts, [describeEnd(end), complaint], {
      hint: 'run the command by hand; it has to read records from stdin until the end of its input',
      details: { command, exitCode: end.code, signal: end.signal },
    })
  }

  /**
   * Gives it messages and resolves with an answer for each. A second message of an id that is outstanding waits for
   * the first. Rejects with HANDLER_NOT_FOUND when the shell could not run the command.
   */
  deliver(messages: readonly MessageExt[]): Promise<readonly Answer[]> {
    if (this.hasEnded || this.#termination !== undefined)
      return this.ended.then(() => messages.map(() => undefined))
    return this.#outstanding.add(messages)
  }

  /** Ends its input, then, after the grace, the group by TERM and KILL. What is unanswered by then was ended by a stop. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#terminate()
    await this.ended
  }

  #terminate(): Promise<void> {
    this.#termination ??= this.#endByAndBy()
    return this.#termination
  }

  async #endByAndBy(): Promise<void> {
    if (this.#isStopping) this.#writer.end()
    else this.#takeBack()
    const { runtime, killGraceMs } = this.#options
    const gone = new AbortController()
    void this.ended.then(() => gone.abort())
    await sleep(runtime, killGraceMs, gone.signal)
    if (!this.hasEnded) await endGroup(this.process.pid, killGraceMs, runtime)
  }

  /** Once only: what was read back cannot be read again. */
  #takeBack(): void {
    const firstUnread = this.#writer.takeBack((msgId) => this.#outstanding.orderOf(msgId))
    this.#firstUnread = Math.min(this.#firstUnread, firstUnread)
  }

  #onLine(line: string, isCut: boolean): void {
    const status = isCut ? undefined : parseStatusLine(line)
    if (status === undefined || !this.#outstanding.answer(status.msgId, status.result)) {
      this.#show(line)
      return
    }
    this.#tally.taken++
    this.#tally.answered++
    if (status.result.status === 'success') this.#tally.succeeded++
  }

  /** A line that settles nothing is for people. */
  #show(line: string): void {
    const isLong = line.length > SHOWN_BYTES_MAX
    const ending = isLong ? `… (${line.length} bytes)\n` : '\n'
    const shown = Buffer.from(isLong ? line.slice(0, SHOWN_BYTES_MAX) : line, 'latin1')
    this.#options.onStderr(Buffer.concat([shown, Buffer.from(ending)]))
  }

  async #onEnd(end: ProcessEnd): Promise<void> {
    // What it left behind may still work on a message that is about to be given to somebody else.
    await endGroup(this.process.pid, this.#options.killGraceMs, this.#options.runtime)
    this.#end = end
    this.#takeBack()
    this.#tally.taken += this.#outstanding.seen(this.#firstUnread)
    if (isNotRunnable(end) && !this.#isStopping) {
      this.#outstanding.reject(notRunnable(this.#options.command, end, this.#stderr.text()))
    } else {
      this.#outstanding.fail(this.#isStopping ? ENDED_BY_STOP : this.#failed(end), this.#firstUnread)
    }
  }

  #failed(end: ProcessEnd): ConsumeResult {
    const what = `handler ended: ${describeEnd(end)}`
    const complaint = this.#stderr.text()
    if (complaint === '') return { status: 'retry', error: what }
    const room = LAST_ERROR_BYTES_MAX - what.length - 2
    return { status: 'retry', error: `${what}: ${clipStart(complaint, room)}` }
  }
}
