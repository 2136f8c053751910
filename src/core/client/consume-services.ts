import type { Broker } from '../broker.ts'
import type { Subscription } from '../model/group.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { ConsumerEvent } from './consumer-events.ts'
import type { Permits } from './gate.ts'
import type { Handler } from './listener.ts'
import type { OffsetStore } from './offset-store.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Quota } from './quota.ts'
import type { RetryPolicy } from './settlement.ts'

/** What the queues of one consumer share. */
export interface ConsumeServices {
  readonly broker: Broker
  readonly group: string
  readonly clientId: string
  readonly handler: Handler
  readonly offsets: OffsetStore
  /** How many queues run a handler at once. */
  readonly permits: Permits
  /** How many messages may still be taken (`--count`). */
  readonly quota: Quota
  readonly policy: RetryPolicy
  readonly batch: number
  readonly lockTtlMs: number
  readonly subscriptionOf: (topic: string) => Subscription
  readonly counters: ConsumeCounters
  /** Aborted when a stop no longer waits for handlers. */
  readonly cutShort: AbortSignal
  readonly emit: (event: ConsumerEvent) => void
  /** Where the queue ends for this consumer (`exitAtEnd`): messages from here on are left alone. Infinity: no end. */
  readonly endOf: (mq: MessageQueue) => number
  /** The lock of the queue went to another owner; `refusedCommit`: something we had done was not accepted. */
  readonly lockLost: (queue: OwnedQueue, refusedCommit: boolean) => void
  /** Something happened that may end the consumer: a queue reached its end, went idle or blocked. */
  readonly progressed: () => void
  /** The consumer cannot go on. */
  readonly fail: (error: unknown) => void
}

export interface ConsumeCounters {
  consumed: number
  deadLettered: number
  failed: number
}
