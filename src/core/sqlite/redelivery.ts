import type { Fence, RedeliveryLane } from '../broker.ts'
import type { MessageExt } from '../model/message.ts'
import type { DeadLetterBox } from './dead-letter-box.ts'
import type { Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { DeadLetters } from './tables/dead-letters.ts'

export interface LaneParts {
  readonly places: Places
  readonly attempts: Attempts
  readonly deadLetters: DeadLetters
  readonly box: DeadLetterBox
}

/** Replayed messages in front of their queue, by their original offsets. They are rows of `dead_letter`, not copies. */
export class StoredLane implements RedeliveryLane {
  readonly #store: Store
  readonly #parts: LaneParts

  constructor(store: Store, parts: LaneParts) {
    this.#store = store
    this.#parts = parts
  }

  /** Empty also when the fence is stale. */
  async pull(fence: Fence, maxMessages: number): Promise<readonly MessageExt[]> {
    const { places, attempts, deadLetters, box } = this.#parts
    const place = places.held(fence)
    if (place === undefined) return []
    const { groupId, queueRow } = place
    return deadLetters.lane(groupId, queueRow, maxMessages).map((row) => {
      const tried = attempts.at(groupId, queueRow, row.offset, row.replays)?.attempts ?? 0
      return { ...box.toMessageExt(row, tried), redelivery: { deadLetterId: row.id, replay: row.replays } }
    })
  }

  complete(fence: Fence, deadLetterIds: readonly number[]): Promise<boolean> {
    const { places, attempts, deadLetters } = this.#parts
    return this.#store.write(() => {
      const place = places.held(fence)
      if (place === undefined) return false
      const { groupId, queueRow } = place
      const now = Math.floor(this.#store.host.runtime.now())
      for (const id of deadLetterIds) {
        const settled = deadLetters.settle(id, groupId, queueRow, now)
        if (settled !== undefined) attempts.drop(groupId, queueRow, settled.offset, settled.replays)
      }
      return true
    })
  }
}
