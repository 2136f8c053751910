/** A longer line is handed over in pieces of about this size, marked as cut. */
export const LINE_BYTES_MAX = 1024 * 1024

/** `line` has one character a byte (latin1): most lines are ASCII, and only for others is it worth decoding. */
export type LineListener = (line: string, isCut: boolean) => void

/**
 * Cuts a stream of bytes into lines, without their LF or CR LF. It works on bytes, so a character that is split
 * over two chunks arrives whole. Of a line above the bound no more than the bound is held: the first piece of it
 * is handed over as cut, and the rest up to the newline as well.
 */
export class LineSplitter {
  readonly #onLine: LineListener
  #rest = ''
  #isCut = false

  constructor(onLine: LineListener) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    const text = this.#rest + chunk.toString('latin1')
    let start = 0
    for (let end = text.indexOf('\n', this.#rest.length); end !== -1; end = text.indexOf('\n', start)) {
      this.#emit(text.slice(start, end))
      this.#isCut = false
      start = end + 1
    }
    this.#rest = start === 0 ? text : text.slice(start)
    if (this.#rest.length > LINE_BYTES_MAX) {
      this.#isCut = true
      this.#emit(this.#rest)
      this.#rest = ''
    }
  }

  /** Hands over a last line that no newline ends. */
  end(): void {
    if (this.#rest !== '') this.#emit(this.#rest)
    this.#rest = ''
  }

  #emit(line: string): void {
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line, this.#isCut || line.length > LINE_BYTES_MAX)
  }
}
