import type { Fence, ParkedKeys, ParkOutcome } from '../broker.ts'
import type { MessageExt } from '../model/message.ts'
import type { DeadLetterBox } from './dead-letter-box.ts'
import type { Places } from './places.ts'
import type { Store } from './store.ts'
import type { ParkedKeyTable } from './tables/parked-keys.ts'

/** Keys that wait behind a dead letter of theirs. A replay or a purge of their last one opens them again. */
export class StoredParkedKeys implements ParkedKeys {
  readonly #store: Store
  readonly #parts: {
    readonly places: Places
    readonly parkedKeys: ParkedKeyTable
    readonly box: DeadLetterBox
  }

  constructor(store: Store, parts: { places: Places; parkedKeys: ParkedKeyTable; box: DeadLetterBox }) {
    this.#store = store
    this.#parts = parts
  }

  async list(fence: Fence): Promise<readonly string[]> {
    const place = this.#parts.places.held(fence)
    return place === undefined ? [] : this.#parts.parkedKeys.list(place.groupId, place.queueRow)
  }

  park(fence: Fence, messages: readonly MessageExt[], commitTo: number | null): Promise<ParkOutcome> {
    const { places, parkedKeys, box } = this.#parts
    return this.#store.write(() => {
      const place = places.held(fence)
      if (place === undefined) return 'lost'
      // Looked at where it is written: a replay may have opened the key since the consumer looked.
      const isParked = ({ key }: MessageExt) =>
        key !== null && parkedKeys.has(place.groupId, place.queueRow, key)
      if (!messages.every(isParked)) return 'reopened'
      for (const { key } of messages) {
        // Here too, where it may have been parked in another queue of the topic only.
        if (key !== null) parkedKeys.add(place.groupId, place.queueRow, key)
      }
      const letters = messages.map((message) => ({
        message,
        attempts: message.reconsumeTimes,
        lastError: null,
      }))
      box.bury(place, letters, 'parked', commitTo)
      return 'parked'
    })
  }
}
