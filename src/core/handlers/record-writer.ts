import type { Writable } from 'node:stream'
import type { MessageExt } from '../model/message.ts'
import { recordLine } from '../model/message-record.ts'
import type { Runtime } from '../model/runtime.ts'

/** Text of one write. Records that wait share a write; bodies of many megabytes must not be in memory all at once. */
const WRITE_CHARS_MAX = 256 * 1024
/** Up to here a pipe takes a write whole or not at all, so that a refused one was seen by nobody. */
const WHOLE_WRITE_CHARS_MAX = 16 * 1024

export interface Delivery {
  readonly message: MessageExt
  /** From now on the child may see it. */
  onGiven(): void
  /** It did not: the child was gone. */
  onRefused(): void
}

/** Writes records to a child's stdin: one write a turn for all that wait, and none while the pipe is full. */
export class RecordWriter {
  readonly #stdin: Writable
  readonly #runtime: Runtime
  #waiting: Delivery[] = []
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
    if (!this.#stdin.writableEnded) this.#stdin.end()
  }

  #flush(): void {
    let next = 0
    while (next < this.#waiting.length && !this.#isFull && this.#stdin.writable) {
      const first = next
      let text = ''
      for (; next < this.#waiting.length && text.length < WRITE_CHARS_MAX; next++) {
        const delivery = this.#waiting[next]
        if (delivery === undefined) break
        delivery.onGiven()
        text += `${recordLine(delivery.message)}\n`
      }
      this.#send(text, this.#waiting.slice(first, next))
    }
    this.#waiting = next === this.#waiting.length ? [] : this.#waiting.slice(next)
  }

  #send(text: string, deliveries: readonly Delivery[]): void {
    const isWhole = text.length <= WHOLE_WRITE_CHARS_MAX
    const isTaken = this.#stdin.write(text, (error) => {
      if (error && isWhole) for (const delivery of deliveries) delivery.onRefused()
    })
    this.#isFull = !isTaken
  }
}
