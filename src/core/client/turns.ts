import type { Runtime } from '../model/runtime.ts'

/**
 * Keeps a busy loop from starving the event loop. Awaits of ready values only run microtasks, so a loop over
 * cached messages with a synchronous handler would keep timers, and with them lock renewal, waiting for ever.
 */
export class Turns {
  readonly #runtime: Runtime
  readonly #longestMs: number
  #since: number

  constructor(runtime: Runtime, longestMs = 4) {
    this.#runtime = runtime
    this.#longestMs = longestMs
    this.#since = runtime.monotonic()
  }

  get isDue(): boolean {
    return this.#runtime.monotonic() - this.#since >= this.#longestMs
  }

  /** A promise to wait for when the event loop is due a turn, else nothing. */
  due(): Promise<void> | undefined {
    if (!this.isDue) return undefined
    return new Promise((resolve) => {
      this.#runtime.defer(() => {
        this.#since = this.#runtime.monotonic()
        resolve()
      })
    })
  }
}
