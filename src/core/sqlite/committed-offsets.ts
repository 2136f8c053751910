import type { OffsetCommit, QueueOffset } from '../broker.ts'
import { type Done, type DoneRange, mergeDone } from '../model/done-ranges.ts'
import { RmqError } from '../model/errors.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import type { FencePlace, Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { ConsumerOffsets } from './tables/consumer-offsets.ts'
import type { QueueLocks } from './tables/queue-locks.ts'

/** Committed offsets on the file: fenced, never above the end of the queue, never moving back; and what is done with beyond. */
export class CommittedOffsets {
  readonly #store: Store
  readonly #places: Places
  readonly #tables: {
    readonly consumerOffsets: ConsumerOffsets
    readonly attempts: Attempts
    readonly queueLocks: QueueLocks
  }

  constructor(
    store: Store,
    places: Places,
    tables: { consumerOffsets: ConsumerOffsets; attempts: Attempts; queueLocks: QueueLocks },
  ) {
    this.#store = store
    this.#places = places
    this.#tables = tables
  }

  list(group: string, topic: string): QueueOffset[] {
    const groupId = this.#places.groupId(group)
    if (groupId === undefined) return []
    return this.#tables.consumerOffsets
      .byTopic(groupId, topic)
      .map(({ queueId, committedOffset, ahead }) => ({
        mq: { topic, brokerName: EMBEDDED_BROKER_NAME, queueId },
        offset: committedOffset,
        ahead,
      }))
  }

  storeStart(group: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#store.write(() => {
      const now = Math.floor(this.#store.host.runtime.now())
      const groupId = this.#places.groupId(group)
      if (groupId === undefined) throw groupNotFound(group)
      for (const { mq, offset } of offsets) {
        const queue = this.#places.fresh(mq)
        if (queue !== undefined) this.#tables.consumerOffsets.start(groupId, queue.id, offset, now)
      }
    })
  }

  commit(group: string, clientId: string, commits: readonly OffsetCommit[]): Promise<readonly boolean[]> {
    return this.#store.write(() => {
      const now = Math.floor(this.#store.host.runtime.now())
      return commits.map(({ mq, epoch, offset, ahead = [] }) => {
        const place = this.#places.of({ group, clientId, mq, epoch })
        return place !== undefined && this.advance(place, { offset, ahead }, now)
      })
    })
  }

  /**
   * Moves one offset and what is done with beyond it, and ends the attempts that it passes. False when the fence is
   * stale. Inside a write job.
   */
  advance(place: FencePlace, { offset, ahead }: Done, now: number): boolean {
    const { consumerOffsets, attempts, queueLocks } = this.#tables
    const { groupId, queueRow, clientId, epoch } = place
    // In the common case, nothing ahead, fence and monotony are one statement.
    if (ahead.length === 0 && consumerOffsets.advance(place, offset, now)) {
      attempts.dropBelow(groupId, queueRow, offset)
      return true
    }
    if (!queueLocks.holds(groupId, queueRow, clientId, epoch)) return false
    const stored = consumerOffsets.done(groupId, queueRow) ?? { offset: 0, ahead: [] }
    if (ahead.length === 0 && stored.offset >= offset) return true
    // Merged: what was moved away since the client looked (sent back, dead-lettered) is done with, too.
    const done = mergeDone(stored, { offset, ahead })
    consumerOffsets.put(groupId, queueRow, done, now)
    attempts.dropBelow(groupId, queueRow, done.offset)
    for (const [from, to] of ahead) attempts.dropRange(groupId, queueRow, from, to)
    return true
  }

  /** Marks messages of a queue as done with that were moved elsewhere. The fence was checked. Inside a write job. */
  pass({ groupId, queueRow }: FencePlace, offsets: readonly number[], now: number): void {
    const { consumerOffsets } = this.#tables
    const stored = consumerOffsets.done(groupId, queueRow) ?? { offset: 0, ahead: [] }
    const ahead = offsets.map((offset): DoneRange => [offset, offset + 1])
    consumerOffsets.put(groupId, queueRow, mergeDone(stored, { offset: 0, ahead }), now)
  }
}

export function groupNotFound(group: string): RmqError {
  return new RmqError('GROUP_NOT_FOUND', `group ${group} does not exist`, {
    why: 'no consumer has ever joined a group of this name',
    hint: 'rmq groups list',
    details: { group },
  })
}
