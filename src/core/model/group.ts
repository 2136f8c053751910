import type { ProcessIdentity } from './lock.ts'
import type { MessageQueue } from './message-queue.ts'

/** How the members of a group consume. RocketMQ lets them mix, which breaks order silently; rmq refuses it. */
export type ConsumeMode = 'orderly' | 'concurrent'

/** Whether the members of a group share the queues, or each takes all of them (RocketMQ `MessageModel`). */
export type MessageModel = 'clustering' | 'broadcasting'

/** A consumer group's stored settings (RocketMQ `SubscriptionGroupConfig`). */
export interface GroupConfig {
  readonly group: string
  /** Further tries after the first; -1 is RocketMQ's default: unlimited when orderly, 16 when concurrent. */
  readonly maxReconsumeTimes: number
  /** Pause before a failed head is tried again, in milliseconds. */
  readonly suspendMs: number
  readonly consumeEnable: boolean
  /** Deliveries are recorded in the journal. */
  readonly trace: boolean
  readonly createdAt: number
}

/** What `createGroup` needs; absent fields take their defaults. */
export interface GroupSpec {
  readonly group: string
  readonly maxReconsumeTimes?: number
  readonly suspendMs?: number
  readonly consumeEnable?: boolean
  readonly trace?: boolean
}

/** What of a group's settings changes. */
export type GroupChange = Omit<GroupSpec, 'group'>

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
  /** Default: clustering. */
  readonly messageModel?: MessageModel
  /** Name of the strategy by which it takes its share of the queues; default averagely. Members must agree. */
  readonly allocate?: string
  readonly subscriptions: readonly Subscription[]
  /** How it is doing, for people. */
  readonly status?: ConsumerStatus
  /** Life of its locks, and of its membership without heartbeats, in milliseconds. */
  readonly lockTtlMs: number
}

export interface GroupMember extends MemberHeartbeat {
  readonly messageModel: MessageModel
  readonly allocate: string
  readonly process: ProcessIdentity
  /** `dead` by proof, `silent` when its heartbeats stopped. */
  readonly state: 'alive' | 'silent' | 'dead'
  readonly startedAt: number
  readonly heartbeatAt: number
}

/** What a member tells of itself (RocketMQ `ConsumerRunningInfo`): its caches and its rates. */
export interface ConsumerStatus {
  readonly queues: readonly QueueStatus[]
  readonly topics: readonly TopicStatus[]
}

/** RocketMQ `ProcessQueueInfo`. */
export interface QueueStatus {
  readonly mq: MessageQueue
  readonly cachedMessages: number
  readonly cachedBytes: number
  /** Messages that a handler has now. */
  readonly consuming: number
  /** Why pulling pauses; `null` while it does not. */
  readonly flowControl: 'messages' | 'bytes' | 'span' | null
}

/** RocketMQ `ConsumeStatus`: rates per second and times in milliseconds over the last minute. */
export interface TopicStatus {
  readonly topic: string
  readonly pullRt: number
  readonly pullTps: number
  readonly consumeRt: number
  readonly consumeOkTps: number
  readonly consumeFailedTps: number
  /** Over the last hour. */
  readonly consumeFailedMsgs: number
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
  /** Messages of this queue that are delayed: they are not in it yet. */
  readonly scheduled: number
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
