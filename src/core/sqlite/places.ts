import type { Fence } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import type { Groups } from './tables/groups.ts'
import type { QueueLocks } from './tables/queue-locks.ts'
import type { QueueRow, Queues } from './tables/queues.ts'

/** A fence in the ids of this file. */
export interface FencePlace {
  readonly groupId: number
  readonly queueRow: number
  readonly clientId: string
  readonly epoch: number
}

/**
 * Ids of groups and queues, remembered: commits and attempts need them many thousand times a second.
 * A remembered id may be stale, when a topic or group was deleted. That is harmless behind a fence: ids are
 * never used again, and no lock refers to one that is gone. `fresh` looks anew, as every lock attempt does.
 */
export class Places {
  readonly #groups: Groups
  readonly #queues: Queues
  readonly #queueLocks: QueueLocks
  readonly #groupIds = new Map<string, number>()
  readonly #queueRows = new Map<string, number>()

  constructor(groups: Groups, queues: Queues, queueLocks: QueueLocks) {
    this.#groups = groups
    this.#queues = queues
    this.#queueLocks = queueLocks
  }

  /** The queue as it is now; `undefined` when there is none. */
  fresh(mq: MessageQueue): QueueRow | undefined {
    try {
      const row = this.#queues.resolve(mq)
      this.#queueRows.set(queueKey(mq), row.id)
      return row
    } catch (error) {
      if (!(error instanceof RmqError)) throw error
      this.#queueRows.delete(queueKey(mq))
      return undefined
    }
  }

  /** Forgets what it knows of a group, since it may have been deleted and made anew. */
  forgetGroup(group: string): void {
    this.#groupIds.delete(group)
  }

  groupId(group: string): number | undefined {
    let id = this.#groupIds.get(group)
    if (id === undefined) {
      id = this.#groups.byName(group)?.id
      if (id !== undefined) this.#groupIds.set(group, id)
    }
    return id
  }

  queueRow(mq: MessageQueue): number | undefined {
    return this.#queueRows.get(queueKey(mq)) ?? this.fresh(mq)?.id
  }

  /** Where a fence stands, whether it holds or not; `undefined` when its group or queue is gone. */
  of(fence: Fence): FencePlace | undefined {
    const groupId = this.groupId(fence.group)
    const queueRow = this.queueRow(fence.mq)
    if (groupId === undefined || queueRow === undefined) return undefined
    return { groupId, queueRow, clientId: fence.clientId, epoch: fence.epoch }
  }

  /** Where a fence stands if its lock is held in its epoch; `undefined` when it is stale. */
  held(fence: Fence): FencePlace | undefined {
    const place = this.of(fence)
    if (place === undefined) return undefined
    return this.#queueLocks.holds(place.groupId, place.queueRow, place.clientId, place.epoch)
      ? place
      : undefined
  }
}
