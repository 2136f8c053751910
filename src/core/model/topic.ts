import type { MessageQueue } from './message-queue.ts'

/** Which function maps an ordering key to a queue. `java` is RocketMQ's `SelectMessageQueueByHash`. */
export const HASH_RULES = ['java', 'fnv1a', 'jump'] as const
export type HashRule = (typeof HASH_RULES)[number]

/** RocketMQ's `PermName`: 6 readable and writable, 4 read only, 2 write only. */
export type TopicPerm = 2 | 4 | 6

export interface TopicConfig {
  readonly topic: string
  /** Queues that take messages; dropped ones stay readable until they are empty. */
  readonly queues: number
  readonly hash: HashRule
  /** Milliseconds that messages are kept, `null` for ever. */
  readonly retentionMs: number | null
  /** Largest body in bytes. */
  readonly maxBody: number
  readonly perm: TopicPerm
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** What `createTopic` needs; absent fields take the defaults of `limits.ts`. */
export interface TopicSpec {
  readonly topic: string
  readonly queues?: number
  readonly hash?: HashRule
  readonly retentionMs?: number | null
  readonly maxBody?: number
}

/** What of a topic's settings changes. */
export interface TopicChange {
  readonly queues?: number
  readonly retentionMs?: number | null
  readonly maxBody?: number
  readonly perm?: TopicPerm
}

/** A change of the number of queues: what lies behind it is held back from a group until it is done with the rest. */
export interface Barrier {
  readonly topic: string
  readonly fromQueues: number
  readonly toQueues: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Groups that are not past it, each with the queues that hold it up. */
  readonly heldUpBy: readonly {
    readonly group: string
    readonly queues: readonly {
      readonly queueId: number
      /** Next offset to consume; `null`: the group never started on this queue. */
      readonly committedOffset: number | null
      /** Where the barrier is. */
      readonly offset: number
    }[]
  }[]
}

/** Bounds of a queue: `minOffset` is its oldest message, `maxOffset` the offset that the next one gets. */
export interface QueueStats {
  readonly mq: MessageQueue
  readonly minOffset: number
  readonly maxOffset: number
  /** Delayed messages that were sent to it: they are not in it yet. */
  readonly scheduled: number
}
