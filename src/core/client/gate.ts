/** A level that one party raises and another waits for, without losing a raise that came before the wait. */
export class Gate {
  #open = false
  #waiters: (() => void)[] = []

  raise(): void {
    this.#open = true
    const waiters = this.#waiters
    this.#waiters = []
    for (const wake of waiters) wake()
  }

  /** Resolves at the next raise, or at once when there was one since the last wait. Ends early with the signal. */
  async wait(signal?: AbortSignal): Promise<void> {
    if (!this.#open && !signal?.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiters.push(wake)
        signal?.addEventListener('abort', wake, { once: true })
      })
    }
    this.#open = false
  }
}

/** At most `size` holders at a time, first come first served (RocketMQ's consume threads). */
export class Permits {
  #free: number
  readonly #waiters: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  acquire(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free--
      return undefined
    }
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  release(): void {
    const next = this.#waiters.shift()
    if (next) next()
    else this.#free++
  }
}

/** Places for handlers that run at once, handed on in the order in which they were asked for. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  /** Takes a place if one is free and nobody waits for it. */
  take(): boolean {
    if (this.#free === 0 || this.#waiting.length > 0) return false
    this.#free--
    return true
  }

  /** Calls `granted` with the place taken, when it is its turn. */
  wait(granted: () => void): void {
    this.#waiting.push(granted)
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
