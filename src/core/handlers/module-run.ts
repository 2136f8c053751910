import type { Worker } from 'node:worker_threads'
import type { ConsumeContext, ConsumeResult } from '../client/listener.ts'
import type { MessageExt } from '../model/message.ts'
import { type Runtime, sleep } from '../model/runtime.ts'
import { clipEnd } from './error-text.ts'
import { loadFailure, moduleUrl, unloadable } from './module-file.ts'
import { packMessages } from './module-message.ts'
import type { FromThread, ToThread } from './module-protocol.ts'
import { startWorker } from './module-worker.ts'
import { ENDED_BY_STOP } from './outcomes.ts'
import { endedBeforeWork } from './restart-failure.ts'
import { type Answer, type Runner, type Tally, withResolvers } from './runner.ts'

/** Of Node: the event loop ran empty while the module still waited for something at its top. */
const UNSETTLED_EXIT_CODE = 13

export interface ModuleRunOptions {
  readonly file: string
  readonly isBatch: boolean
  readonly onStderr: (chunk: Buffer) => void
  readonly killGraceMs: number
  readonly runtime: Runtime
}

/** One thread with the user's module in it. */
export class ModuleRun implements Runner {
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  readonly #options: ModuleRunOptions
  readonly #worker: Worker
  readonly #threadUrl: string
  readonly #loading = withResolvers<void>()
  readonly #idle = new Set<() => void>()
  readonly #begun: Int32Array
  readonly #open = new Map<number, (answer: Answer) => void>()
  #calls = 0
  #answered = 0
  #succeeded = 0
  #end: { readonly code: number; readonly error: string | undefined } | undefined
  #isReady = false
  #isUnloadable = false
  #isStopping = false

  /** HANDLER_NOT_FOUND when there is no such file, or this Node cannot run its language. */
  static async start(options: ModuleRunOptions): Promise<ModuleRun> {
    const begun = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
    const { file, isBatch } = options
    const { worker, threadUrl } = await startWorker({ rmqHandler: moduleUrl(file), isBatch, begun })
    return new ModuleRun(options, worker, threadUrl, new Int32Array(begun))
  }

  private constructor(options: ModuleRunOptions, worker: Worker, threadUrl: string, begun: Int32Array) {
    this.#options = options
    this.#worker = worker
    this.#threadUrl = threadUrl
    this.#begun = begun
    this.#worker.stdout.on('data', options.onStderr)
    this.#worker.stderr.on('data', options.onStderr)
    this.#worker.on('message', (message: FromThread) => this.#onMessage(message))
    let error: string | undefined
    this.#worker.on('error', (thrown: unknown) => {
      error = thrown instanceof Error ? thrown.message : String(thrown)
    })
    this.ready = this.#loading.promise
    this.ended = new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#onEnd(code, error)
        resolve()
      })
    })
    // Whoever waits for it hears it; nobody has to.
    this.ready.catch(() => {})
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  get tally(): Readonly<Tally> {
    return { taken: this.#taken, answered: this.#answered, succeeded: this.#succeeded }
  }

  get isDone(): boolean {
    return this.#end?.code === 0 && this.#taken > 0 && this.#answered === this.#taken
  }

  failure(starts: number) {
    const { file } = this.#options
    return endedBeforeWork(file, starts, [this.#describeEnd()], {
      hint: 'a handler module must not exit, nor throw outside of its listener',
      details: { file, exitCode: this.#end?.code },
    })
  }

  /** `undefined`: the thread ended before the call began. */
  deliver(messages: readonly MessageExt[], { group, mq, attempt }: ConsumeContext): Promise<Answer> {
    if (this.hasEnded || this.#isStopping) return this.ended.then(() => undefined)
    const { promise, resolve } = withResolvers<Answer>()
    const call = ++this.#calls
    this.#open.set(call, resolve)
    const packed = packMessages(messages)
    const { topic, queueId } = mq
    this.#post({ kind: 'call', call, group, topic, queueId, attempt, ...packed }, [packed.bodies])
    return promise
  }

  /** Tells the module, and ends the thread when nothing runs in it any more, after the grace whatever runs. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (!this.hasEnded && this.#open.size > 0) {
      this.#post({ kind: 'stop' })
      await this.#untilIdle()
    }
    void this.#worker.terminate()
    // A thread that hangs in a system call cannot be ended; it is not waited for.
    await Promise.race([this.ended, sleep(this.#options.runtime, this.#options.killGraceMs)])
  }

  get #taken(): number {
    return Atomics.load(this.#begun, 0)
  }

  #post(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  async #untilIdle(): Promise<void> {
    const enough = new AbortController()
    const idle = () => enough.abort()
    this.#idle.add(idle)
    await sleep(this.#options.runtime, this.#options.killGraceMs, enough.signal)
    this.#idle.delete(idle)
  }

  #onMessage(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true
        this.#loading.resolve()
        break
      case 'unloadable': {
        this.#isUnloadable = true
        // Its end says nothing more.
        this.#isStopping = true
        const failure = loadFailure(this.#options.file, message.reason, this.#threadUrl)
        void failure.then((error) => this.#loading.reject(error))
        void this.#worker.terminate()
        break
      }
      case 'answer':
        this.#settle(message.call, message.result)
        break
    }
  }

  #settle(call: number, result: ConsumeResult): void {
    const resolve = this.#open.get(call)
    if (resolve === undefined) return
    this.#open.delete(call)
    this.#answered++
    if (result.status === 'success') this.#succeeded++
    resolve(result)
    if (this.#open.size === 0) for (const idle of this.#idle) idle()
  }

  #onEnd(code: number, error: string | undefined): void {
    this.#end = { code, error }
    const failure: ConsumeResult = this.#isStopping
      ? ENDED_BY_STOP
      : { status: 'retry', error: clipEnd(`handler ended: ${this.#describeEnd()}`) }
    const begun = this.#taken
    for (const [call, resolve] of this.#open) resolve(call <= begun ? failure : undefined)
    this.#open.clear()
    for (const idle of this.#idle) idle()
    this.#endLoading(code)
  }

  #endLoading(code: number): void {
    if (this.#isReady || this.#isUnloadable) return
    if (code !== UNSETTLED_EXIT_CODE || this.#isStopping) {
      this.#loading.resolve()
      return
    }
    const why = 'it awaits something at its top level that never comes'
    const hint = 'let what it waits for happen, or wait for it within the listener'
    this.#loading.reject(unloadable(this.#options.file, why, hint))
  }

  #describeEnd(): string {
    return this.#end?.error ?? `exit ${this.#end?.code}`
  }
}
