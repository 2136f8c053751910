/** How long notes are held back. */
const HOLD_MS = 2_000

/**
 * Notes of a start that nobody can act upon when it is over at once: `rmq consume … | head -1` ends without a word.
 * They are said a little later, or before anything else is, unless they are dropped.
 */
export class HeldNotes implements Disposable {
  readonly #say: (text: string) => void
  readonly #timer: NodeJS.Timeout
  #notes: string[] = []
  #isHolding = true

  constructor(say: (text: string) => void) {
    this.#say = say
    this.#timer = setTimeout(() => this.release(), HOLD_MS)
    this.#timer.unref()
  }

  add(text: string): void {
    if (this.#isHolding) this.#notes.push(text)
    else this.#say(text)
  }

  release(): void {
    this.#isHolding = false
    clearTimeout(this.#timer)
    for (const note of this.#notes.splice(0)) this.#say(note)
  }

  /** Drops what is still held back. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#notes = []
  }
}
