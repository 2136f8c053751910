import type { LockHolder } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'

/** What a consumer tells its user while it runs. Commands print these on stderr; a library user logs them. */
export type ConsumerEvent =
  | {
      readonly kind: 'queue-acquired'
      readonly mq: MessageQueue
      readonly epoch: number
      readonly unclean: boolean
    }
  | { readonly kind: 'queue-released'; readonly mq: MessageQueue }
  /** The lock went to someone else while we held it: what was not committed comes again there. */
  | { readonly kind: 'lock-lost'; readonly mq: MessageQueue; readonly refusedCommit: boolean }
  | { readonly kind: 'waiting-for-lock'; readonly mq: MessageQueue; readonly holder: LockHolder | null }
  | {
      readonly kind: 'retry'
      readonly message: MessageExt
      readonly attempts: number
      /** Further tries after the first; `null` is unlimited. */
      readonly maxReconsumeTimes: number | null
      readonly error: string | null
      readonly afterMs: number
    }
  | {
      readonly kind: 'dead-lettered'
      readonly message: MessageExt
      readonly attempts: number
      readonly error: string | null
    }
  /** It followed a dead letter of its key (`onExhausted` is `park-key`). */
  | { readonly kind: 'parked'; readonly message: MessageExt }
  /** A broadcasting member gave it up: RocketMQ has neither retries nor dead letters there. */
  | {
      readonly kind: 'dropped'
      readonly message: MessageExt
      readonly attempts: number
      readonly error: string | null
    }
  /** A run took longer than the consume timeout: its message was sent back while the handler still runs. */
  | { readonly kind: 'timed-out'; readonly message: MessageExt; readonly afterMs: number }
  /** Attempts ran out and `onExhausted` is `block`: the queue waits for a person. */
  | {
      readonly kind: 'blocked'
      readonly message: MessageExt
      readonly attempts: number
      readonly error: string | null
    }
  /** The messages that retention or a reset took away: the queue goes on at another offset. */
  | { readonly kind: 'offset-moved'; readonly mq: MessageQueue; readonly from: number; readonly to: number }
  | { readonly kind: 'notice'; readonly text: string }

/** What a consumer did from its start to its end. */
export interface ConsumerSummary {
  /** Messages that a handler took with success. */
  readonly consumed: number
  readonly deadLettered: number
  /** Followed a dead letter of their key. */
  readonly parked: number
  /** Failed, and come again through the retry topic. */
  readonly sentBack: number
  /** Given up by a broadcasting member. */
  readonly dropped: number
  /** Handler runs that failed. */
  readonly failed: number
  /** False when the drain ran out and a handler was cut short: its messages come again. */
  readonly drained: boolean
}
