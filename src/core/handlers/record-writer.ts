import type { MessageExt } from '../model/message.ts'
import { recordLine } from '../model/message-record.ts'
import type { Runtime } from '../model/runtime.ts'
import type { InputPipe } from './input-pipe.ts'

/** Text of one write. Records that wait share a write; bodies of many megabytes must not be in memory all at once. */
const WRITE_CHARS_MAX = 64 * 1024
const RECORD_START = /(?:^|\n)\{"msgId":"([0-9A-Za-z]+)"/

/** A record on its way. */
export interface Delivery {
  readonly message: MessageExt
  /** Its place among all records of this child, from 1, once the child may see it; 0 before. */
  order: number
}

/** Writes records to a child's stdin: one write a turn for all that wait, and none while the pipe is full. */
export class RecordWriter {
  readonly #pipe: InputPipe
  readonly #runtime: Runtime
  #waiting: Delivery[] = []
  #isScheduled = false
  #isFull = false
  #count = 0
  /** Records from here on were refused: nobody reads any more. */
  #refusedFrom = Number.POSITIVE_INFINITY

  constructor(pipe: InputPipe, runtime: Runtime) {
    this.#pipe = pipe
    this.#runtime = runtime
  }

  write(delivery: Delivery): void {
    this.#waiting.push(delivery)
    if (this.#isScheduled || this.#isFull) return
    this.#isScheduled = true
    this.#runtime.defer(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  /** What waits is not written any more, and the child sees the end of its input. */
  end(): void {
    this.#waiting = []
    this.#pipe.end()
  }

  /**
   * Ends the input at once. Answers the first record that the child did not read whole, or Infinity when nothing is
   * known to be unread: `orderOf` tells the place of an id. A record of which it read a part is none that it took.
   */
  takeBack(orderOf: (msgId: string) => number | undefined): number {
    this.#waiting = []
    const rest = this.#pipe.takeBack().toString('latin1')
    return Math.min(this.#refusedFrom, this.#firstUnread(rest, orderOf))
  }

  #firstUnread(rest: string, orderOf: (msgId: string) => number | undefined): number {
    const start = RECORD_START.exec(rest)
    const order = start?.[1] === undefined ? undefined : orderOf(start[1])
    // In front of the first whole record lies the rest of the one before it.
    if (start !== null && order !== undefined) return rest.startsWith('{"msgId":"') ? order : order - 1
    // Only the end of the last record, if all were written.
    return rest !== '' && !this.#isFull ? this.#count : Number.POSITIVE_INFINITY
  }

  #flush(): void {
    let next = 0
    while (next < this.#waiting.length && !this.#isFull && this.#pipe.stdin.writable) {
      const first = this.#count + 1
      let text = ''
      for (; next < this.#waiting.length && text.length < WRITE_CHARS_MAX; next++) {
        const delivery = this.#waiting[next]
        if (delivery === undefined) break
        delivery.order = ++this.#count
        text += `${recordLine(delivery.message)}\n`
      }
      this.#send(Buffer.from(text), first)
    }
    this.#waiting = next === this.#waiting.length ? [] : this.#waiting.slice(next)
  }

  /** Nothing waits in front of it, so it goes to the pipe now, and is refused now where nobody reads. */
  #send(bytes: Buffer, first: number): void {
    const { stdin } = this.#pipe
    stdin.write(bytes, (error) => {
      if (error || !this.#isFull) return
      this.#isFull = false
      this.#flush()
    })
    if (stdin.errored !== null) this.#refusedFrom = Math.min(this.#refusedFrom, first)
    else this.#isFull = stdin.writableLength > 0
  }
}
