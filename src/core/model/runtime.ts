/**
 * Time, chance and timers, passed in wherever they are needed, so that a simulation can own them.
 * Nothing under `core` reads a clock, draws a random number or sets a timer in any other way.
 */
export interface Runtime {
  /** Wall clock in milliseconds since the epoch. For stamps that people read, retention and delays; never for leases. */
  now(): number
  /** Monotonic clock of the host in milliseconds since its boot: comparable across processes, never stepped. */
  monotonic(): number
  /** A number in [0, 1). */
  random(): number
  /** Calls `fn` once after `ms` milliseconds. Returns a function that cancels it. */
  setTimer(ms: number, fn: () => void): () => void
  /** Calls `fn` in a later turn of the event loop, behind the work that is already waiting. */
  defer(fn: () => void): void
}

/**
 * Waits `ms` milliseconds. Resolves early, never rejects, when `signal` is aborted:
 * the caller looks at the signal, so that a stop is an ordinary path and not an exception.
 */
export function sleep(runtime: Runtime, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const finish = () => {
      cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const cancel = runtime.setTimer(ms, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
