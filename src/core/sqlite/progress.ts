import { countRanges } from '../model/done-ranges.ts'
import type { BlockedHead, GroupProgress } from '../model/group.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import type { AttemptRow, Attempts } from './tables/attempts.ts'
import type { BroadcastOffsets } from './tables/broadcast-offsets.ts'
import type { ConsumerOffsets } from './tables/consumer-offsets.ts'
import type { DeadLetters } from './tables/dead-letters.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { Groups } from './tables/groups.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueLocks } from './tables/queue-locks.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

export interface ProgressTables {
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly delayed: DelayedMessages
  readonly groups: Groups
  readonly queueLocks: QueueLocks
  readonly consumerOffsets: ConsumerOffsets
  readonly broadcastOffsets: BroadcastOffsets
  readonly attempts: Attempts
  readonly deadLetters: DeadLetters
}

/** How far a group is: reads only. */
export class Progress {
  readonly #tables: ProgressTables

  constructor(tables: ProgressTables) {
    this.#tables = tables
  }

  /** Every queue of these topics that exist, by topic and queue id. */
  of(groupId: number, topics: readonly string[]): GroupProgress[] {
    return topics.flatMap((name) => {
      const topic = this.#tables.topics.byName(name)
      if (topic === undefined) return []
      return this.#tables.queues.byTopic(topic.id).map((queue) => this.#queue(groupId, topic, queue))
    })
  }

  /** Whether messages of the queue, or replayed ones in front of it, still wait for the group. */
  awaits(groupId: number, queue: QueueRow): boolean {
    const { consumerOffsets, deadLetters } = this.#tables
    const committed = consumerOffsets.committed(groupId, queue.id) ?? 0
    return (
      Math.max(committed, queue.minOffset) < queue.maxOffset || deadLetters.laneCount(groupId, queue.id) > 0
    )
  }

  #queue(groupId: number, topic: TopicRow, queue: QueueRow): GroupProgress {
    const { consumerOffsets, broadcastOffsets, deadLetters, delayed, queueLocks } = this.#tables
    const done = consumerOffsets.done(groupId, queue.id)
    // Members of a broadcasting group each have their own: what all of them are done with is what the slowest is.
    const committed = done?.offset ?? broadcastOffsets.smallest(groupId, queue.id)
    // What retention took away no longer waits.
    const next = Math.max(committed ?? 0, queue.minOffset)
    return {
      mq: { topic: topic.name, brokerName: EMBEDDED_BROKER_NAME, queueId: queue.queueId },
      minOffset: queue.minOffset,
      committedOffset: committed ?? null,
      maxOffset: queue.maxOffset,
      lag:
        Math.max(0, queue.maxOffset - next - countRanges(done?.ahead ?? [])) +
        deadLetters.laneCount(groupId, queue.id),
      scheduled: delayed.count(queue.id),
      owner: queueLocks.byKey(groupId, queue.id)?.clientId ?? null,
      blocked: this.#blocked(groupId, topic, queue, next),
    }
  }

  /** The head that has failed before, also while it is being tried again: the lane's, since it goes first, or the queue's. */
  #blocked(groupId: number, topic: TopicRow, queue: QueueRow, next: number): BlockedHead | null {
    const { attempts, deadLetters, messages } = this.#tables
    const [head] = deadLetters.lane(groupId, queue.id, 1)
    const replayed = head && attempts.at(groupId, queue.id, head.offset, head.replays)
    if (head && replayed && replayed.firstFailedAt !== null)
      return blockedHead(head.msgId, head.key, replayed)
    const failed = attempts.firstFailed(groupId, queue.id, next)
    const raw = failed && messages.at(queue.id, failed.offset)
    if (!failed || !raw) return null
    const { msgId, key } = messages.toMessageExt(raw, topic.name, queue.queueId, queue.id)
    return blockedHead(msgId, key, failed)
  }
}

function blockedHead(msgId: string, key: string | null, row: AttemptRow): BlockedHead {
  const { offset: queueOffset, attempts, lastError, nextTryAt } = row
  return { msgId, key, queueOffset, attempts, lastError, nextTryAt }
}
