import type { Runtime } from '../../src/core/model/runtime.ts'

/** A clock that stands until it is moved; timers run when their time has come. */
export class ManualRuntime implements Runtime {
  #time = 1_000_000
  readonly #timers = new Set<{ readonly at: number; readonly fn: () => void }>()

  now(): number {
    return 1_700_000_000_000 + this.#time
  }

  monotonic(): number {
    return this.#time
  }

  random(): number {
    return 0.5
  }

  setTimer(ms: number, fn: () => void): () => void {
    const timer = { at: this.#time + ms, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  defer(fn: () => void): void {
    setImmediate(fn)
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size
  }

  /** Moves the clock from timer to timer, and lets what each of them woke run before the next. */
  async pass(ms: number): Promise<void> {
    const end = this.#time + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#timers.delete(next)
      this.#time = next.at
      next.fn()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#time = end
  }
}
