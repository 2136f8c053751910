import { wantsAnimation } from './terminal.ts'
import { escapeControls } from './text.ts'

/** The part of `process.stderr` that is needed. */
export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface ProgressOptions {
  readonly stream: ProgressStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Not with `--quiet` or `--no-progress`. */
  readonly wanted: boolean
  /** What it says now. Called only when it is about to be shown. */
  readonly text: () => string
}

const UPDATE_MS = 100
const CLEAR_LINE = '\r\u001b[K'

/**
 * One line on stderr that is written over and over while something long runs, at most ten times a second, and
 * that is gone at the end. It exists only on a terminal that a person can see.
 */
export class Progress implements Disposable {
  readonly #stream: ProgressStream
  readonly #text: () => string
  #timer: NodeJS.Timeout | undefined
  #isShown = false

  constructor({ stream, env, wanted, text }: ProgressOptions) {
    this.#stream = stream
    this.#text = text
    if (!wanted || !wantsAnimation(env, stream.isTTY === true)) return
    this.#timer = setInterval(() => this.#show(), UPDATE_MS)
    // It never keeps a process alive that has nothing else to do.
    this.#timer.unref()
  }

  /** Takes the line away, so that something else can be written. It comes back with the next update. */
  clear(): void {
    if (this.#isShown) this.#stream.write(CLEAR_LINE)
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.clear()
  }

  #show(): void {
    const width = (this.#stream.columns || 80) - 1
    this.#stream.write(`${CLEAR_LINE}${escapeControls(this.#text()).slice(0, width)}`)
    this.#isShown = true
  }
}
