import type { AttemptStore, Broker, ParkedKeys, RedeliveryLane } from '../broker.ts'
import type { Delivery } from '../model/delivery.ts'
import type { Subscription } from '../model/group.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { ConsumeHook } from './consume-hook.ts'
import type { ConsumerEvent } from './consumer-events.ts'
import type { ConsumerStats } from './consumer-stats.ts'
import type { Permits, Slots } from './gate.ts'
import type { Handler } from './listener.ts'
import type { OffsetStore } from './offset-store.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Quota } from './quota.ts'
import type { ConsumePolicy } from './settlement.ts'

/** What the queues of one consumer share. */
export interface ConsumeServices {
  readonly broker: Broker
  readonly group: string
  readonly clientId: string
  readonly handler: Handler
  readonly offsets: OffsetStore
  /** What the broker can do under a queue's lock; absent where it cannot, or where there is no lock. */
  readonly attempts: AttemptStore | undefined
  readonly redelivery: RedeliveryLane | undefined
  readonly parkedKeys: ParkedKeys | undefined
  /** How many queues are consumed in order at once. */
  readonly permits: Permits
  /** How many handlers run at once, where messages of a queue run beside each other. */
  readonly slots: Slots
  /** How many batches of one queue run at once. */
  readonly runsPerQueue: number
  /** How many messages may still be taken (`--count`). */
  readonly quota: Quota
  readonly policy: ConsumePolicy
  readonly batch: number
  readonly lockTtlMs: number
  /** How long a batch may run before it is sent back; Infinity where order is kept. */
  readonly consumeTimeoutMs: number
  /** Most offsets between the first unfinished message of a queue and the last one cached. */
  readonly spanMax: number
  /** Cached messages and bytes of one queue of a topic before pulling pauses. */
  readonly thresholdsOf: (topic: string) => { readonly messages: number; readonly bytes: number }
  /** Whether barriers hold messages back. */
  readonly ordered: boolean
  readonly subscriptionOf: (topic: string) => Subscription
  readonly counters: ConsumeCounters
  readonly stats: ConsumerStats
  readonly hooks: readonly ConsumeHook[]
  /** Records a delivery, where the group wants that. */
  readonly journal: ((queue: OwnedQueue, deliveries: readonly Delivery[]) => void) | undefined
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
  /** Followed a dead letter of their key. */
  parked: number
  /** Sent back to the retry topic. */
  sentBack: number
  /** Given up by a broadcasting member. */
  dropped: number
  failed: number
}
