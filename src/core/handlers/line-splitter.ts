/** A longer line is handed over in pieces of about this size, marked as cut. */
export const LINE_BYTES_MAX = 1024 * 1024

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

export type LineListener = (line: Buffer, isCut: boolean) => void

/**
 * Cuts a stream of bytes into lines, without their LF or CR LF. It works on bytes, so a character that is split
 * over two chunks arrives whole. Of a line above the bound no more than the bound is held: the first piece of it
 * is handed over as cut, and the rest up to the newline as well.
 */
export class LineSplitter {
  readonly #onLine: LineListener
  #parts: Buffer[] = []
  #size = 0
  #isCut = false

  constructor(onLine: LineListener) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#hold(chunk.subarray(start, end))
      this.#emit()
      this.#isCut = false
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
    if (this.#size > LINE_BYTES_MAX) {
      this.#isCut = true
      this.#emit()
    }
  }

  /** Hands over a last line that no newline ends. */
  end(): void {
    if (this.#size > 0) this.#emit()
  }

  #hold(part: Buffer): void {
    this.#parts.push(part)
    this.#size += part.length
  }

  #emit(): void {
    const [only] = this.#parts
    const line = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    const isTerminatedByCrLf = line.at(-1) === CARRIAGE_RETURN
    this.#onLine(
      isTerminatedByCrLf ? line.subarray(0, -1) : line,
      this.#isCut || line.length > LINE_BYTES_MAX,
    )
  }
}
