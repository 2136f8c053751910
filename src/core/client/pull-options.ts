import type { LockHolder } from '../model/lock.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { ConsumerEvent } from './consumer-events.ts'
import type { ConsumeFrom } from './consumer-options.ts'
import type { MessageFilter } from './message-filter.ts'

/** The filter is that of `poll`. */
export interface PullConsumerOptions extends MessageFilter {
  readonly group: string
  /** Default: unique by construction. */
  readonly clientId?: string
  /** Life of a queue lock in milliseconds, default 60,000; it is renewed each third of it. */
  readonly lockTtlMs?: number
  /** Where a group starts that has never consumed a topic; default earliest. */
  readonly from?: ConsumeFrom
  readonly onEvent?: (event: PullEvent) => void
}

/** What happens to the queues of a pull consumer between its calls. */
export type PullEvent = Extract<ConsumerEvent, { kind: 'lock-lost' | 'offset-moved' | 'notice' }>

export interface PullOptions extends MessageFilter {
  readonly offset: number
  /** Most messages of one pull, default 32. */
  readonly max?: number
  /** How long to wait when nothing is there, in milliseconds; default 0 (RocketMQ `pullBlockIfNotFound`: 20,000). */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

export interface PollOptions {
  /** How long to wait for messages, default 5,000 ms. */
  readonly timeoutMs?: number
  /** Most messages of one poll, default 32. */
  readonly max?: number
  /** Ends the wait: the poll resolves with what there is, which may be nothing. */
  readonly signal?: AbortSignal
}

/** A queue that could not be assigned; `holder` is `null` where the broker does not say who is in the way. */
export interface HeldQueue {
  readonly mq: MessageQueue
  readonly holder: LockHolder | null
}

export interface AssignResult {
  readonly assigned: readonly MessageQueue[]
  readonly held: readonly HeldQueue[]
}
