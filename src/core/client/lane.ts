import type { ProcessQueueEntry } from './process-queue.ts'

/** A double-ended list of entries. An array with a moving head: `shift` of a long array would copy it. */
export class Lane {
  readonly #belongTogether: (first: ProcessQueueEntry, next: ProcessQueueEntry) => boolean
  #entries: ProcessQueueEntry[] = []
  #head = 0
  bytes = 0

  /** `belongTogether`: whether an entry may be in one batch with the first of it. Default: as many attempts. */
  constructor(belongTogether: (first: ProcessQueueEntry, next: ProcessQueueEntry) => boolean = sameAttempts) {
    this.#belongTogether = belongTogether
  }

  get size(): number {
    return this.#entries.length - this.#head
  }

  get first(): ProcessQueueEntry | undefined {
    return this.#entries[this.#head]
  }

  push(entry: ProcessQueueEntry): void {
    this.#entries.push(entry)
    this.bytes += entry.message.body.byteLength
  }

  /** Up to `count` entries of the head that belong together. */
  shift(count: number): readonly ProcessQueueEntry[] {
    const taken = this.#entries.slice(this.#head, this.#headRun(count))
    this.#head += taken.length
    for (const entry of taken) this.bytes -= entry.message.body.byteLength
    if (this.#head === this.#entries.length) this.#reset([])
    else if (this.#head >= 1024) this.#reset(this.#entries.slice(this.#head))
    return taken
  }

  unshift(entries: readonly ProcessQueueEntry[]): void {
    this.#reset([...entries, ...this.#entries.slice(this.#head)])
    for (const entry of entries) this.bytes += entry.message.body.byteLength
  }

  clear(): void {
    this.#reset([])
    this.bytes = 0
  }

  #headRun(count: number): number {
    const first = this.#entries[this.#head]
    const most = Math.min(this.#head + count, this.#entries.length)
    if (!first) return this.#head
    let end = this.#head + 1
    while (end < most && this.#belongTogether(first, this.#entries[end] as ProcessQueueEntry)) end++
    return end
  }

  #reset(entries: ProcessQueueEntry[]): void {
    this.#entries = entries
    this.#head = 0
  }
}

/** A message never shares the fate of one that failed before. */
export function sameAttempts(a: ProcessQueueEntry, b: ProcessQueueEntry): boolean {
  return a.attempts === b.attempts
}

export function sameKey(a: ProcessQueueEntry, b: ProcessQueueEntry): boolean {
  return sameAttempts(a, b) && a.message.key === b.message.key
}
