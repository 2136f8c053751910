/** How many messages a consumer may still take. Those that fail and stay are given back. */
export class Quota {
  #left: number
  readonly #onAvailable: () => void

  /**
   * `count`: messages until the consumer ends, `Infinity` for no end.
   * `onAvailable`: there are some again after there were none.
   */
  constructor(count: number, onAvailable: () => void) {
    this.#left = count
    this.#onAvailable = onAvailable
  }

  /** Asks for up to `n`; answers how many may be started. */
  take(n: number): number {
    const granted = Math.min(n, this.#left)
    this.#left -= granted
    return granted
  }

  giveBack(n: number): void {
    const wasExhausted = this.isExhausted
    this.#left += n
    if (wasExhausted && n > 0) this.#onAvailable()
  }

  get isExhausted(): boolean {
    return this.#left <= 0
  }
}
