/** What happened in a schedule: a hash of all of it, and the words of what is worth reading. */
export class Trace {
  readonly #lines: string[] = []
  #hash = 0x811c9dc5

  /** Counts for the hash only: timers that find nothing to do would bury the rest. */
  count(text: string): void {
    let hash = this.#hash
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    this.#hash = hash >>> 0
  }

  add(at: number, text: string): void {
    const line = `${at.toFixed(2).padStart(10)}  ${text}`
    this.count(line)
    this.#lines.push(line)
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, '0')
  }

  last(count: number): readonly string[] {
    return this.#lines.slice(-count)
  }
}
