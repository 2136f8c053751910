import type { ProcessIdentity } from './lock.ts'
import type { MessageQueue } from './message-queue.ts'

/** How the members of a group consume. RocketMQ lets them mix, which breaks order silently; rmq refuses it. */
export type ConsumeMode = 'orderly' | 'concurrent'

/** A consumer group's stored settings (RocketMQ `SubscriptionGroupConfig`). */
export interface GroupConfig {
  readonly group: string
  /** Further tries after the first; -1 is RocketMQ's default: unlimited when orderly, 16 when concurrent. */
  readonly maxReconsumeTimes: number
  /** Pause before a failed head is tried again, in milliseconds. */
  readonly suspendMs: number
  readonly consumeEnable: boolean
  readonly createdAt: number
}

/** One topic of a group and what of it is wanted. */
export interface Subscription {
  readonly topic: string
  readonly expressionType: 'TAG' | 'SQL92'
  /** `*` takes everything. */
  readonly expression: string
}

/** What a member says of itself with every heartbeat. */
export interface MemberHeartbeat {
  readonly group: string
  readonly clientId: string
  readonly mode: ConsumeMode
  readonly subscriptions: readonly Subscription[]
  /** Life of its locks, and of its membership without heartbeats, in milliseconds. */
  readonly lockTtlMs: number
}

export interface GroupMember extends MemberHeartbeat {
  readonly process: ProcessIdentity
  /** `dead` by proof, `silent` when its heartbeats stopped. */
  readonly state: 'alive' | 'silent' | 'dead'
  readonly startedAt: number
  readonly heartbeatAt: number
}

/** How far a group is in one queue. */
export interface GroupProgress {
  readonly mq: MessageQueue
  readonly minOffset: number
  /** Next offset to consume; `null` when the group never started on this queue. */
  readonly committedOffset: number | null
  readonly maxOffset: number
  /** Messages that still wait, including replayed ones. */
  readonly lag: number
  /** Client id of the lock's holder. */
  readonly owner: string | null
  /** The head that fails, if it does. */
  readonly blocked: BlockedHead | null
}

/** A head that failed and will be tried again, or waits for a person. */
export interface BlockedHead {
  readonly msgId: string
  readonly key: string | null
  readonly queueOffset: number
  readonly attempts: number
  readonly lastError: string | null
  /** Wall clock of the next try, `null` when none is planned (`--on-exhausted block`). */
  readonly nextTryAt: number | null
}
