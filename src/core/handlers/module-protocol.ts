import type { ConsumeResult } from '../client/listener.ts'
import type { PackedMessages } from './module-message.ts'

/** What a thread is started with. */
export interface ThreadData {
  /** URL of the module. */
  readonly rmqHandler: string
  /** The listener takes lists. */
  readonly isBatch: boolean
  /** One 32-bit integer: how many calls have begun. It tells also after the thread has died. */
  readonly begun: SharedArrayBuffer
}

/** One run of the handler. Calls are begun in the order in which they are posted. */
export interface Call extends PackedMessages {
  readonly kind: 'call'
  readonly call: number
  readonly group: string
  readonly topic: string
  readonly queueId: number
  readonly attempt: number
}

/** `stop`: no further call comes, and those that run shall end. */
export type ToThread = Call | { readonly kind: 'stop' }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unloadable'; readonly reason: LoadError }
  | { readonly kind: 'answer'; readonly call: number; readonly result: ConsumeResult }

/** Why a module could not be loaded: an error as text, since not every error can be posted. */
export interface LoadError {
  readonly name: string
  readonly message: string
  readonly stack: string
}
