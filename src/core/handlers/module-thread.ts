import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ConsumeResult, ConsumeStatus } from '../client/listener.ts'
import { consumeResult, errorText, isStatus } from './consume-result.ts'
import { type ModuleMessage, unpackMessages } from './module-message.ts'
import type { Call, FromThread, LoadError, ThreadData, ToThread } from './module-protocol.ts'

/** What a handler module may know while it runs. */
export interface ModuleContext {
  readonly group: string
  readonly topic: string
  readonly queueId: number
  /** 1 for the first time. */
  readonly attempt: number
  /** Aborted when a stop no longer waits: end at once. The thread is ended soon after. */
  readonly signal: AbortSignal
}

export type ModuleAnswer =
  | undefined
  | void
  | ConsumeStatus
  | Pick<ConsumeResult, 'status' | 'error' | 'suspendMs'>

/** The default export of a handler module. Throwing means `retry`. */
export type ModuleListener = (
  message: ModuleMessage,
  context: ModuleContext,
) => ModuleAnswer | Promise<ModuleAnswer>

/** The same where a batch is above 1. */
export type ModuleBatchListener = (
  messages: readonly ModuleMessage[],
  context: ModuleContext,
) => ModuleAnswer | Promise<ModuleAnswer>

/** Where this file is, as it is run: the main thread starts the thread with it. */
export const threadUrl = import.meta.url

if (!isMainThread && parentPort !== null && isThreadData(workerData)) await serve(parentPort, workerData)

function isThreadData(data: unknown): data is ThreadData {
  return typeof data === 'object' && data !== null && 'rmqHandler' in data
}

async function serve(port: MessagePort, { rmqHandler, isBatch, begun }: ThreadData): Promise<void> {
  const tell = (message: FromThread) => port.postMessage(message)
  const listener = await load(rmqHandler)
  if (typeof listener !== 'function') {
    tell({ kind: 'unloadable', reason: listener })
    return
  }
  const count = new Int32Array(begun)
  const stop = new AbortController()
  // Not before the module is loaded: a module that waits for nothing would keep the thread alive for ever.
  port.on('message', (message: ToThread) => {
    if (message.kind === 'stop') {
      stop.abort()
      return
    }
    Atomics.add(count, 0, 1)
    const { call } = message
    const answered = (result: ConsumeResult) => tell({ kind: 'answer', call, result })
    void run(listener, isBatch, message, stop.signal).then(answered)
  })
  tell({ kind: 'ready' })
}

async function load(moduleUrl: string): Promise<LoadError | ((...args: readonly unknown[]) => unknown)> {
  try {
    const module = await import(moduleUrl)
    if (typeof module.default === 'function') return module.default
    const names = Object.keys(module)
    const exported = names.length === 0 ? 'it exports nothing' : `it exports ${names.join(', ')}`
    const message = `the default export is ${'default' in module ? 'no function' : 'missing'}; ${exported}`
    return { name: '', message, stack: '' }
  } catch (error) {
    if (!(error instanceof Error)) return { name: '', message: String(error), stack: '' }
    return { name: error.name, message: error.message, stack: error.stack ?? '' }
  }
}

async function run(
  listener: (...args: readonly unknown[]) => unknown,
  isBatch: boolean,
  call: Call,
  signal: AbortSignal,
): Promise<ConsumeResult> {
  const { group, topic, queueId, attempt } = call
  const context: ModuleContext = { group, topic, queueId, attempt, signal }
  const messages = unpackMessages(call)
  try {
    return toResult(await listener(isBatch ? messages : messages[0], context))
  } catch (error) {
    return { status: 'retry', error: errorText(error) ?? `${error} was thrown` }
  }
}

function toResult(answer: unknown): ConsumeResult {
  if (answer === undefined) return { status: 'success' }
  if (isStatus(answer)) return { status: answer }
  const result = typeof answer === 'object' && answer !== null ? consumeResult({ ...answer }) : undefined
  if (result !== undefined) return result
  const error = `the handler answered ${errorText(answer) ?? 'null'}; a status is success, retry, dead-letter, commit or rollback`
  return { status: 'retry', error: errorText(error) ?? error }
}
