import type { ConsumeResult } from '../client/listener.ts'
import { LAST_ERROR_BYTES_MAX } from '../model/limits.ts'
import type { HandlerProcess } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import { type Runtime, sleep } from '../model/runtime.ts'
import { clipStart, StderrTail } from './error-text.ts'
import { LineSplitter } from './line-splitter.ts'
import { ENDED_BY_STOP } from './outcomes.ts'
import { describeEnd, endGroup, endOf, isNotRunnable, type ProcessEnd } from './process-end.ts'
import { RecordWriter } from './record-writer.ts'
import { notRunnable, type Shell, startShell } from './shell.ts'
import { parseStatusLine } from './status-line.ts'

export interface PipeProcessOptions {
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  readonly onStderr: (chunk: Buffer) => void
  readonly killGraceMs: number
  readonly runtime: Runtime
}

/** `undefined`: the process ended before the message was given to it. */
export type Answer = ConsumeResult | undefined

/** Messages that a run was given, that it answered, and that it answered with success. */
export interface Tally {
  given: number
  answered: number
  succeeded: number
}

interface Outstanding {
  isGiven: boolean
  readonly answer: Promise<Answer>
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** How far a line that is no status is shown. */
const SHOWN_BYTES_MAX = 64 * 1024

/** One run of a piped command: records to its stdin, status lines from its stdout, in any order. */
export class PipeProcess {
  readonly process: HandlerProcess
  /** Resolves when it has ended, its answers were read, and everything outstanding was settled. */
  readonly ended: Promise<ProcessEnd>
  readonly #options: PipeProcessOptions
  readonly #stderr = new StderrTail()
  readonly #outstanding = new Map<string, Outstanding>()
  readonly #writer: RecordWriter
  readonly #tally: Tally = { given: 0, answered: 0, succeeded: 0 }
  #hasEnded = false
  #isStopping = false
  #termination: Promise<void> | undefined

  /** HANDLER_FAILED when no process can be started. */
  static async start(options: PipeProcessOptions): Promise<PipeProcess> {
    const { command, env } = options
    return new PipeProcess(await startShell({ command, env, stdio: ['pipe', 'pipe', 'pipe'] }), options)
  }

  private constructor(shell: Shell, options: PipeProcessOptions) {
    const { stdin, stdout, stderr } = shell.child
    if (stdin === null || stdout === null || stderr === null)
      throw new TypeError('a pipe of the handler is missing')
    this.process = shell.process
    this.#options = options
    this.#writer = new RecordWriter(stdin, options.runtime)
    const lines = new LineSplitter((line, isCut) => this.#onLine(line, isCut))
    stdout.on('data', (chunk: Buffer) => lines.push(chunk))
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr.push(chunk)
      options.onStderr(chunk)
    })
    // A handler that closed its stdin takes nothing more, one that closed its stdout answers nothing more.
    stdin.on('error', () => void this.#terminate())
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
    return this.#hasEnded
  }

  /** It was ended from here: its end says nothing about the command. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** The end of its stderr. */
  get complaint(): string {
    return this.#stderr.text()
  }

  /**
   * Gives it a message and resolves with its answer. An id can be outstanding once only, as answers name nothing
   * else: a second message of the same id waits for the first. Rejects with HANDLER_NOT_FOUND when the shell could
   * not run the command.
   */
  deliver(message: MessageExt): Promise<Answer> {
    if (this.#hasEnded || this.#termination !== undefined) return this.ended.then(() => undefined)
    const earlier = this.#outstanding.get(message.msgId)
    if (earlier !== undefined) {
      const again = () => this.deliver(message)
      return earlier.answer.then(again, again)
    }
    const { promise, resolve, reject } = withResolvers<Answer>()
    const outstanding: Outstanding = { isGiven: false, answer: promise, resolve, reject }
    this.#outstanding.set(message.msgId, outstanding)
    this.#writer.write({
      message,
      onGiven: () => {
        outstanding.isGiven = true
        this.#tally.given++
      },
      onRefused: () => {
        outstanding.isGiven = false
        this.#tally.given--
      },
    })
    return promise
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
    this.#writer.end()
    const { runtime, killGraceMs } = this.#options
    const gone = new AbortController()
    void this.ended.then(() => gone.abort())
    await sleep(runtime, killGraceMs, gone.signal)
    if (!this.#hasEnded) await endGroup(this.process.pid, killGraceMs, runtime)
  }

  #onLine(line: Buffer, isCut: boolean): void {
    const text = isCut ? undefined : line.toString('utf8')
    const status = text === undefined ? undefined : parseStatusLine(text)
    const outstanding = status && this.#outstanding.get(status.msgId)
    if (status === undefined || outstanding?.isGiven !== true) {
      this.#show(line)
      return
    }
    this.#outstanding.delete(status.msgId)
    this.#tally.answered++
    if (status.result.status === 'success') this.#tally.succeeded++
    outstanding.resolve(status.result)
  }

  /** A line that settles nothing is for people. */
  #show(line: Buffer): void {
    const isLong = line.length > SHOWN_BYTES_MAX
    const ending = isLong ? `… (${line.length} bytes)\n` : '\n'
    this.#options.onStderr(Buffer.concat([line.subarray(0, SHOWN_BYTES_MAX), Buffer.from(ending)]))
  }

  async #onEnd(end: ProcessEnd): Promise<ProcessEnd> {
    // What it left behind may still work on a message that is about to be given to somebody else.
    await endGroup(this.process.pid, this.#options.killGraceMs, this.#options.runtime)
    this.#hasEnded = true
    this.#writer.end()
    const failure = this.#failure(end)
    for (const outstanding of this.#outstanding.values()) {
      if (!outstanding.isGiven) outstanding.resolve(undefined)
      else if (failure instanceof Error) outstanding.reject(failure)
      else outstanding.resolve(failure)
    }
    this.#outstanding.clear()
    return end
  }

  #failure(end: ProcessEnd): ConsumeResult | Error {
    if (this.#isStopping) return ENDED_BY_STOP
    if (isNotRunnable(end)) return notRunnable(this.#options.command, end, this.complaint)
    const what = `handler ended: ${describeEnd(end)}`
    const complaint = this.complaint
    if (complaint === '') return { status: 'retry', error: what }
    const room = LAST_ERROR_BYTES_MAX - what.length - 2
    return { status: 'retry', error: `${what}: ${clipStart(complaint, room)}` }
  }
}

/** `Promise.withResolvers` of ES2024, which Node 20 does not have. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
