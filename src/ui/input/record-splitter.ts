import { RmqError } from '../../core/index.ts'

/** Records of the input that end with a newline, or with a NUL. */
export type Delimiter = 'newline' | 'nul'

const BYTES = { newline: 0x0a, nul: 0x00 } as const

/**
 * Longest record. The largest body of 4 MiB takes up to six times as much in JSON, when each byte is written as
 * `\uNNNN`; beyond it the delimiter is missing, and the input would fill the memory.
 */
export const RECORD_BYTES_MAX = 32 * 1024 * 1024

/** Cuts a stream of bytes into records, without their delimiters. A record may span any number of chunks. */
export class RecordSplitter {
  readonly #delimiter: number
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #size = 0
  /** Records so far: the number of the last one, from 1. */
  #count = 0

  constructor(delimiter: Delimiter, bytesMax = RECORD_BYTES_MAX) {
    this.#delimiter = BYTES[delimiter]
    this.#bytesMax = bytesMax
  }

  /** The records that end in this chunk. INVALID_INPUT_LINE when one is too long. */
  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(this.#delimiter, start)
      if (end === -1) break
      const piece = chunk.subarray(start, end)
      this.#check(piece.length)
      this.#count++
      if (this.#size === 0) yield piece
      else yield this.#join(piece)
      start = end + 1
    }
    const rest = chunk.subarray(start)
    this.#check(rest.length)
    if (rest.length > 0) this.#pieces.push(rest)
    this.#size += rest.length
  }

  /** What stood behind the last delimiter, `undefined` when that was nothing. */
  end(): Buffer | undefined {
    if (this.#size === 0) return undefined
    this.#count++
    return this.#join(Buffer.alloc(0))
  }

  #join(last: Buffer): Buffer {
    const record = Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#size = 0
    return record
  }

  #check(added: number): void {
    if (this.#size + added <= this.#bytesMax) return
    throw new RmqError('INVALID_INPUT_LINE', `line ${this.#count + 1} cannot be sent: it has no end`, {
      why: `after ${this.#size + added} bytes no delimiter came, at most ${this.#bytesMax} are read`,
      hint: 'to send the whole input as one body: --file -',
      details: { line: this.#count + 1 },
    })
  }
}
