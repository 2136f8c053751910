import type { Writable } from 'node:stream'
import type { MessageExt } from '../model/message.ts'
import { recordLine } from '../model/message-record.ts'
import type { Runtime } from '../model/runtime.ts'

/** Text of one write. Records that wait share a write; bodies of many megabytes must not be in memory all at once. */
const WRITE_CHARS_MAX = 256 * 1024

interface Waiting {
  readonly message: MessageExt
  readonly onGiven: () => void
}

/** Writes records to a child's stdin: one write a turn for all that wait, and none while the pipe is full. */
export class RecordWriter {
  readonly #stdin: Writable
  readonly #runtime: Runtime
  #waiting: Waiting[] = []
  #isScheduled = false
  #isFull = false

  constructor(stdin: Writable, runtime: Runtime) {
    this.#stdin = stdin
    this.#runtime = runtime
    stdin.on('drain', () => {
      this.#isFull = false
      this.#flush()
    })
  }

  /** Calls `onGiven` just before the record may be seen by the child. */
  write(message: MessageExt, onGiven: () => void): void {
    this.#waiting.push({ message, onGiven })
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
    if (!this.#stdin.writableEnded) this.#stdin.end()
  }

  #flush(): void {
    let next = 0
    while (next < this.#waiting.length && !this.#isFull && this.#stdin.writable) {
      let text = ''
      for (; next < this.#waiting.length && text.length < WRITE_CHARS_MAX; next++) {
        const waiting = this.#waiting[next]
        if (waiting === undefined) break
        waiting.onGiven()
        text += `${recordLine(waiting.message)}\n`
      }
      this.#isFull = !this.#stdin.write(text)
    }
    this.#waiting = next === this.#waiting.length ? [] : this.#waiting.slice(next)
  }
}
