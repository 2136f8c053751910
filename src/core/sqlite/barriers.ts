import type { Barrier } from '../model/topic.ts'
import type { BarrierDebtRow, BarrierTable } from './tables/barriers.ts'
import type { QueueRow } from './tables/queues.ts'
import type { TopicRow } from './tables/topics.ts'

/**
 * Keeps a key in order when the number of queues changes. A change raises a barrier where every queue ends at that
 * moment; a group gets nothing from behind it before it is done with everything in front of it, in all queues. Then
 * the earlier messages of a key, wherever they lie, are consumed before its later ones, and producers need not stop.
 */
export class Barriers {
  readonly #table: BarrierTable

  constructor(table: BarrierTable) {
    this.#table = table
  }

  /**
   * Up to where the group may read the queue in order. Groups go past barriers one by one, so the first that they are
   * not past decides; a queue that is not part of it was made with it or later, and lies behind it as a whole.
   *
   * The queue's row is read before: a barrier raised since then lies at or above its max offset.
   */
  limit(groupId: number | undefined, { id, topicId }: QueueRow): number {
    const newest = this.#table.newest(topicId)
    if (newest === undefined) return Number.POSITIVE_INFINITY
    // No group has the id 0: one that does not exist yet has done nothing.
    const group = groupId ?? 0
    // A barrier has all queues of those before it, at the same or higher offsets: past the newest is past all.
    if (!this.#table.owes(newest, group)) return Number.POSITIVE_INFINITY
    return this.#table.limit(topicId, group, id) ?? Number.POSITIVE_INFINITY
  }

  /** Barriers that some group is not past, oldest first. */
  standing({ id, name }: TopicRow): Barrier[] {
    return this.#table.byTopic(id).flatMap((barrier) => {
      const debts = this.#table.debts(barrier.id, id)
      if (debts.length === 0) return []
      const { fromQueues, toQueues, createdAt } = barrier
      return [{ topic: name, fromQueues, toQueues, createdAt, heldUpBy: byGroup(debts) }]
    })
  }
}

function byGroup(debts: readonly BarrierDebtRow[]): Barrier['heldUpBy'] {
  const groups = new Map<string, Barrier['heldUpBy'][number]['queues'][number][]>()
  for (const { group, queueId, committedOffset, offset } of debts) {
    const queues = groups.get(group) ?? []
    groups.set(group, queues)
    queues.push({ queueId, committedOffset, offset })
  }
  return [...groups].map(([group, queues]) => ({ group, queues }))
}
