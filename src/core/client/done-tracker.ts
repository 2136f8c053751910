import type { DoneRange } from '../model/done-ranges.ts'

/** Which messages of a queue are done with, where they end in any order. Pure. */
export class DoneTracker {
  /** Of what was put and is not committed, ascending; from `#head` on. */
  #offsets: number[] = []
  #isDone: boolean[] = []
  #head = 0
  #pulledTo = 0

  /** Messages come in ascending order. */
  put(offset: number, isDone: boolean): void {
    this.#offsets.push(offset)
    this.#isDone.push(isDone)
  }

  /** The pull has looked up to here: what it left out is passed with what lies around it. */
  pulled(to: number): void {
    this.#pulledTo = Math.max(this.#pulledTo, to)
  }

  done(offset: number): void {
    const i = this.#indexOf(offset)
    if (this.#offsets[i] !== offset) return
    this.#isDone[i] = true
    while (this.#head < this.#offsets.length && this.#isDone[this.#head]) this.#head++
    if (this.#head >= 1024) this.#compact()
  }

  /** The offset of the first message that is not done with, or where the next one will be. */
  get committed(): number {
    return this.#offsets[this.#head] ?? Math.max(this.#pulledTo, (this.#offsets.at(-1) ?? -1) + 1)
  }

  get lastPut(): number {
    return this.#offsets.at(-1) ?? this.#pulledTo - 1
  }

  /** What is done with beyond the first message that is not; a range reaches up to the next one that is not. */
  get ahead(): DoneRange[] {
    const ranges: DoneRange[] = []
    let from: number | undefined
    for (let i = this.#head; i < this.#offsets.length; i++) {
      const offset = this.#offsets[i] as number
      if (this.#isDone[i]) from ??= offset
      else if (from !== undefined) {
        ranges.push([from, offset])
        from = undefined
      }
    }
    if (from !== undefined) ranges.push([from, Math.max(this.#pulledTo, this.lastPut + 1)])
    return ranges
  }

  clearTo(offset: number): void {
    this.#offsets = []
    this.#isDone = []
    this.#head = 0
    this.#pulledTo = offset
  }

  #indexOf(offset: number): number {
    let low = this.#head
    let high = this.#offsets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#offsets[middle] as number) < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  #compact(): void {
    // The last one stays: it says where the queue was put to.
    const from = Math.min(this.#head, this.#offsets.length - 1)
    this.#offsets = this.#offsets.slice(from)
    this.#isDone = this.#isDone.slice(from)
    this.#head -= from
  }
}
