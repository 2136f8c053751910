import type { RunNote } from './run-log.ts'

/** Wall clocks are read a moment before what they stand for. */
const CLOCK_MS = 50

/** Which consumers were killed, and when. */
export class Kills {
  readonly #at = new Map<number, number>()
  readonly #pids = new Set<number>()

  get count(): number {
    return this.#at.size
  }

  /** A consumer began. */
  began(pid: number): void {
    this.#pids.add(pid)
  }

  /** It is about to be killed. */
  killed(pid: number, at = Date.now()): void {
    this.#at.set(pid, at)
  }

  /** Whether the consumer of a run was killed before the second note was written. */
  between({ owner }: RunNote, { at }: RunNote): boolean {
    // A run whose consumer died before it could see its pid has another parent by then.
    if (!this.#pids.has(owner)) return true
    return (this.#at.get(owner) ?? Number.POSITIVE_INFINITY) <= at + CLOCK_MS
  }
}
