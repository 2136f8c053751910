import type { QueueOffset } from '../broker.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import { groupNotFound } from './committed-offsets.ts'
import type { Places } from './places.ts'
import type { Store } from './store.ts'
import type { BroadcastOffsets } from './tables/broadcast-offsets.ts'

/**
 * How far each member of a broadcasting group is (RocketMQ `LocalFileOffsetStore`). Only its own client writes it, so
 * there is no lock and no fence. A client's offsets outlive it: who starts again under its id goes on from there.
 */
export class LocalOffsets {
  readonly #store: Store
  readonly #places: Places
  readonly #table: BroadcastOffsets

  constructor(store: Store, places: Places, table: BroadcastOffsets) {
    this.#store = store
    this.#places = places
    this.#table = table
  }

  list(group: string, clientId: string, topic: string): QueueOffset[] {
    const groupId = this.#places.groupId(group)
    if (groupId === undefined) return []
    return this.#table.byTopic(groupId, clientId, topic).map(({ queueId, committedOffset }) => ({
      mq: { topic, brokerName: EMBEDDED_BROKER_NAME, queueId },
      offset: committedOffset,
    }))
  }

  /** Offsets only grow, up to the end of their queue; those of queues that are gone are passed over. */
  commit(group: string, clientId: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#store.write(() => {
      const now = Math.floor(this.#store.host.runtime.now())
      // Looked up anew: no lock attempt notices here that a group or topic was deleted and made again.
      this.#places.forgetGroup(group)
      const groupId = this.#places.groupId(group)
      if (groupId === undefined) throw groupNotFound(group)
      for (const { mq, offset } of offsets) {
        const queue = this.#places.fresh(mq)
        if (queue !== undefined) this.#table.put(groupId, clientId, queue.id, offset, now)
      }
    })
  }
}
