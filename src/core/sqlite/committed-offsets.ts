import type { OffsetCommit, QueueOffset } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import type { FencePlace, Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { ConsumerOffsets } from './tables/consumer-offsets.ts'
import type { QueueLocks } from './tables/queue-locks.ts'

/** Committed offsets on the file: fenced, never above the end of the queue, never moving back. */
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
    return this.#tables.consumerOffsets.byTopic(groupId, topic).map(({ queueId, committedOffset }) => ({
      mq: { topic, brokerName: EMBEDDED_BROKER_NAME, queueId },
      offset: committedOffset,
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
      return commits.map(({ mq, epoch, offset }) => {
        const place = this.#places.of({ group, clientId, mq, epoch })
        return place !== undefined && this.advance(place, offset, now)
      })
    })
  }

  /** Moves one offset, and ends the attempts that it passes. False when the fence is stale. Inside a write job. */
  advance(place: FencePlace, offset: number, now: number): boolean {
    const { consumerOffsets, attempts, queueLocks } = this.#tables
    const { groupId, queueRow, clientId, epoch } = place
    if (!consumerOffsets.advance(place, offset, now))
      return queueLocks.holds(groupId, queueRow, clientId, epoch)
    attempts.dropBelow(groupId, queueRow, offset)
    return true
  }
}

export function groupNotFound(group: string): RmqError {
  return new RmqError('GROUP_NOT_FOUND', `group ${group} does not exist`, {
    why: 'no consumer has ever joined a group of this name',
    hint: 'rmq groups list',
    details: { group },
  })
}
