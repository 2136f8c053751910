import { LAST_ERROR_BYTES_MAX } from '../model/limits.ts'

const REPLACEMENT_AT_END = /\ufffd+$/

/** The end of what a process wrote to its stderr: a program says last why it gives up. */
export class StderrTail {
  #bytes: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    const kept = chunk.subarray(-LAST_ERROR_BYTES_MAX)
    this.#bytes = Buffer.concat([this.#bytes, kept]).subarray(-LAST_ERROR_BYTES_MAX)
  }

  /** Without the white space around it; empty when nothing was written. At most `LAST_ERROR_BYTES_MAX` bytes. */
  text(): string {
    // Clipped again: bytes that are no UTF-8 take more room once decoded.
    return clipStart(this.#bytes.toString('utf8'), LAST_ERROR_BYTES_MAX).trim()
  }
}

/** The beginning of a text, at most `LAST_ERROR_BYTES_MAX` bytes of UTF-8. */
export function clipEnd(text: string): string {
  if (Buffer.byteLength(text) <= LAST_ERROR_BYTES_MAX) return text
  return Buffer.from(text).subarray(0, LAST_ERROR_BYTES_MAX).toString('utf8').replace(REPLACEMENT_AT_END, '')
}

/** The end of a text, at most `bytesMax` bytes of UTF-8. */
export function clipStart(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  let start = Math.max(0, bytes.length - bytesMax)
  if (start === 0) return text
  while (isContinuation(bytes[start])) start++
  return bytes.toString('utf8', start)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
