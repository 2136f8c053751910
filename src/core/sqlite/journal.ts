import type { DeliveryJournal, Fence } from '../broker.ts'
import type { Delivery, DeliveryOrdering, JournalEntry } from '../model/delivery.ts'
import { JOURNAL_DELIVERIES_MAX, JOURNAL_PRUNE_STEP } from '../model/limits.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import { keptError } from './last-error.ts'
import type { Places } from './places.ts'
import type { Store } from './store.ts'
import type { Deliveries } from './tables/deliveries.ts'

/** How many deliveries are kept, and how many old ones a record removes at most. */
export interface JournalBounds {
  readonly deliveriesMax: number
  readonly pruneStep: number
}

const BOUNDS: JournalBounds = { deliveriesMax: JOURNAL_DELIVERIES_MAX, pruneStep: JOURNAL_PRUNE_STEP }

/**
 * The record of deliveries, for groups that want one. It holds the newest of all groups together, so that a file
 * cannot grow by it for ever; what a crash of the machine takes from its end is not repeated.
 */
export class StoredJournal implements DeliveryJournal {
  readonly #store: Store
  readonly #places: Places
  readonly #deliveries: Deliveries
  readonly #bounds: JournalBounds

  constructor(store: Store, places: Places, deliveries: Deliveries, bounds: JournalBounds = BOUNDS) {
    this.#store = store
    this.#places = places
    this.#deliveries = deliveries
    this.#bounds = bounds
  }

  /** Nothing is recorded of a group or queue that is gone. */
  record(fence: Fence, deliveries: readonly Delivery[], ordering: DeliveryOrdering): Promise<void> {
    const { deliveriesMax, pruneStep } = this.#bounds
    return this.#store.write(() => {
      const place = this.#places.of(fence)
      if (place === undefined) return
      const last = this.#deliveries.add(
        deliveries.map(({ queueOffset: offset, error, ...delivery }) => ({
          ...place,
          ...delivery,
          ...{ offset, ordering },
          error: keptError(error),
        })),
      )
      if (last !== undefined && last > deliveriesMax) {
        this.#deliveries.prune(last - deliveriesMax, Math.max(pruneStep, deliveries.length))
      }
    })
  }

  async read(msgId: string, group?: string): Promise<readonly JournalEntry[]> {
    return this.#deliveries
      .byMessage(msgId.toUpperCase(), group)
      .map(({ topic, queueId, offset: queueOffset, ...delivery }) => ({
        ...delivery,
        mq: { topic, brokerName: EMBEDDED_BROKER_NAME, queueId },
        queueOffset,
      }))
  }
}
