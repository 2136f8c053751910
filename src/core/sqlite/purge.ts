import type { DeadLetter } from '../model/dead-letter.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { DeadLetters } from './tables/dead-letters.ts'
import type { ParkedKeyTable } from './tables/parked-keys.ts'

export interface PurgeTables {
  readonly deadLetters: DeadLetters
  readonly parkedKeys: ParkedKeyTable
  readonly changes: Changes
}

/** Deletes dead letters for good. A key that was parked for them, and for no other, reopens in the same step. */
export class Purge {
  readonly #store: Store
  readonly #tables: PurgeTables
  readonly #redelivery: () => void

  constructor(store: Store, tables: PurgeTables, redelivery: () => void) {
    this.#store = store
    this.#tables = tables
    this.#redelivery = redelivery
  }

  /** Answers how many were deleted: not those that are gone, wait in a lane, or have died once more since. */
  async purge(seen: readonly DeadLetter[]): Promise<number> {
    const { deadLetters, parkedKeys, changes } = this.#tables
    const { purged, reopened } = await this.#store.write(
      () => {
        const groups = seen.flatMap(({ id, replays }) => deadLetters.remove(id, replays) ?? [])
        const reopened = [...new Set(groups)].reduce((sum, group) => sum + parkedKeys.reopen(group), 0)
        if (reopened > 0) changes.bump('redelivery')
        return { purged: groups.length, reopened }
      },
      { durable: true, wake: true },
    )
    if (reopened > 0) this.#redelivery()
    return purged
  }
}
