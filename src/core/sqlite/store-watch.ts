import { STORE_POLL_MS } from '../model/limits.ts'
import type { Store } from './store.ts'
import { isBusy } from './store-errors.ts'

/** Whether the file is still the one that was opened is looked at this often. */
const PLACE_CHECK_MS = 1000

export interface WatchDuties {
  /** Something was committed, here or elsewhere. */
  readonly onChange: () => void
  /** Every STORE_POLL_MS, changed or not. */
  readonly onTick: () => void
  /** Looking failed for more than a moment. */
  readonly onFailure: (error: unknown) => void
  /** Throws STORE_MOVED. */
  readonly checkPlace: () => void
}

/**
 * Notices what other processes commit, while anybody waits for it: by their wake-up within a millisecond, else by
 * SQLite's `data_version` within STORE_POLL_MS (writers that wake nobody, file systems without inotify).
 * One timer serves all who wait; when nobody does, there is none.
 */
export class StoreWatch {
  readonly #store: Store
  readonly #duties: WatchDuties
  readonly #dataVersion: () => number
  #seen = -1
  #placeCheckedAt = 0
  #checkPending = false
  #stop: (() => void) | undefined

  constructor(store: Store, duties: WatchDuties) {
    this.#store = store
    this.#duties = duties
    const dataVersion = store.db.prepare<[], number>('pragma data_version').pluck()
    this.#dataVersion = () => dataVersion.get() as number
  }

  /** Watches from now on; `false` ends it. */
  set active(wanted: boolean) {
    if (wanted === (this.#stop !== undefined)) return
    if (wanted) this.#start()
    else this.#stop?.()
  }

  /** Something was committed: look in a later turn of the event loop, once however many say so. */
  poke(): void {
    if (this.#stop === undefined || this.#checkPending) return
    this.#checkPending = true
    this.#store.host.runtime.defer(() => {
      this.#checkPending = false
      if (this.#stop !== undefined) this.#guarded(() => this.#duties.onChange())
    })
  }

  #start(): void {
    const { runtime, wakeUp } = this.#store.host
    let cancelTimer = () => {}
    const tick = () => {
      cancelTimer = runtime.setTimer(STORE_POLL_MS, tick)
      this.#guarded(() => this.#tick())
    }
    const endWatch = wakeUp.watch(() => this.poke())
    this.#stop = () => {
      this.#stop = undefined
      cancelTimer()
      endWatch()
    }
    this.#placeCheckedAt = runtime.monotonic()
    cancelTimer = runtime.setTimer(STORE_POLL_MS, tick)
    // What was committed between the caller's own look and this moment.
    this.poke()
  }

  #tick(): void {
    const now = this.#store.host.runtime.monotonic()
    if (now - this.#placeCheckedAt >= PLACE_CHECK_MS) {
      this.#placeCheckedAt = now
      this.#duties.checkPlace()
    }
    const version = this.#dataVersion()
    if (version !== this.#seen) {
      this.#seen = version
      this.#duties.onChange()
    }
    this.#duties.onTick()
  }

  /** A timer's exception would end the process. A busy file is looked at again in the next tick. */
  #guarded(look: () => void): void {
    try {
      look()
    } catch (error) {
      if (!isBusy(error)) this.#duties.onFailure(error)
    }
  }
}
