import { type Runtime, sleep } from '../model/runtime.ts'

/** How far behind its schedule a pace may catch up in a burst, in milliseconds. */
const CATCH_UP_MS_MAX = 200

/**
 * Spaces turns evenly over time: turn i comes at start + i / rate. Turns that came late are caught up, so that the
 * rate holds over a run although timers are late; a long stall is forgiven instead, so that it causes no burst.
 */
export class Pace {
  readonly #intervalMs: number
  readonly #runtime: Runtime
  #nextAt: number | undefined

  /** `perSecond` is above zero; `undefined` means as fast as it goes. */
  constructor(perSecond: number | undefined, runtime: Runtime) {
    this.#intervalMs = perSecond === undefined ? 0 : 1000 / perSecond
    this.#runtime = runtime
  }

  /** Resolves at the next turn, or at once when `signal` is aborted. */
  async turn(signal?: AbortSignal): Promise<void> {
    if (this.#intervalMs === 0) return
    const now = this.#runtime.monotonic()
    const dueAt = Math.max(this.#nextAt ?? now, now - CATCH_UP_MS_MAX)
    this.#nextAt = dueAt + this.#intervalMs
    if (dueAt > now) await sleep(this.#runtime, dueAt - now, signal)
  }
}
