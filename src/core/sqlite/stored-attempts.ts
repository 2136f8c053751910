import type { AttemptFailure, AttemptPosition, AttemptStore, Fence } from '../broker.ts'
import type { HandlerProcess } from '../model/lock.ts'
import { keptError } from './last-error.ts'
import type { FencePlace, Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { QueueLocks } from './tables/queue-locks.ts'

/** Attempts on the file, each change under its fence. */
export class StoredAttempts implements AttemptStore {
  readonly #store: Store
  readonly #places: Places
  readonly #attempts: Attempts
  readonly #queueLocks: QueueLocks

  constructor(store: Store, places: Places, attempts: Attempts, queueLocks: QueueLocks) {
    this.#store = store
    this.#places = places
    this.#attempts = attempts
    this.#queueLocks = queueLocks
  }

  start(fence: Fence, positions: readonly AttemptPosition[]): Promise<boolean> {
    return this.#fenced(fence, ({ groupId, queueRow }) => {
      const isBatch = positions.length > 1 && positions.every(({ replay }) => replay === 0)
      if (isBatch)
        this.#attempts.startLive(
          groupId,
          queueRow,
          positions.map(({ offset }) => offset),
        )
      else for (const { offset, replay } of positions) this.#attempts.start(groupId, queueRow, offset, replay)
    })
  }

  runsIn(fence: Fence, process: HandlerProcess, slot = 0): Promise<boolean> {
    return this.#fenced(fence, ({ groupId, queueRow }) => {
      this.#queueLocks.setHandler(groupId, queueRow, slot, process)
    })
  }

  fail(fence: Fence, failures: readonly AttemptFailure[]): Promise<boolean> {
    return this.#fenced(fence, ({ groupId, queueRow }) => {
      const now = Math.floor(this.#store.host.runtime.now())
      for (const { offset, replay, attempts, lastError, nextTryAt } of failures) {
        const failure = {
          offset,
          replay,
          attempts,
          lastError: keptError(lastError),
          nextTryAt: nextTryAt === null ? null : Math.round(nextTryAt),
        }
        this.#attempts.fail(groupId, queueRow, failure, now)
      }
    })
  }

  release(fence: Fence, positions: readonly AttemptPosition[]): Promise<boolean> {
    return this.#fenced(fence, ({ groupId, queueRow }) => {
      for (const { offset, replay } of positions) this.#attempts.release(groupId, queueRow, offset, replay)
    })
  }

  #fenced(fence: Fence, change: (place: FencePlace) => void): Promise<boolean> {
    return this.#store.write(() => {
      const place = this.#places.held(fence)
      if (place === undefined) return false
      change(place)
      return true
    })
  }
}
