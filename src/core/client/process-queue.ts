import { invariant } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'

/** A cached message and how often it was started before. */
export interface ProcessQueueEntry {
  readonly message: MessageExt
  readonly attempts: number
}

/** What `commit` passes: the offset to commit to, or the dead letters whose replay is done. */
export type Passed =
  | { readonly lane: 'live'; readonly nextOffset: number }
  | { readonly lane: 'redelivery'; readonly deadLetterIds: readonly number[] }

/**
 * The client's cache of one queue: a synchronous state machine without I/O (RocketMQ `ProcessQueue`).
 *
 * | operation                   | waiting            | consuming        |
 * |-----------------------------|--------------------|------------------|
 * | putMessages                 | gains the new ones | –                |
 * | takeMessages                | loses its head     | is that head     |
 * | commit                      | –                  | emptied          |
 * | makeMessageToConsumeAgain   | gets them in front | emptied          |
 *
 * Replayed messages wait in a lane of their own, in front of the live ones; a batch is of one lane.
 * Offsets within a lane ascend, and whatever is consuming lies before all that waits in its lane.
 */
export class ProcessQueue {
  readonly #live = new Lane()
  readonly #redelivered = new Lane()
  #consuming: readonly ProcessQueueEntry[] = []
  #lastPut = -1
  #pulledTo = 0

  /**
   * Adds pulled messages; `pulledTo` is the offset up to which the pull has looked, filtered messages included.
   * Messages at or below the last one put are already here or done, and are left out.
   */
  putMessages(messages: readonly MessageExt[], pulledTo: number): void {
    this.#pulledTo = pulledTo
    for (const message of messages) {
      if (message.queueOffset <= this.#lastPut) continue
      this.#lastPut = message.queueOffset
      this.#live.push({ message, attempts: message.reconsumeTimes })
    }
  }

  /** Replaces what waits in the redelivery lane: it is read anew each time, and the store is its truth. */
  putRedeliveries(messages: readonly MessageExt[]): void {
    this.#redelivered.clear()
    for (const message of messages) this.#redelivered.push({ message, attempts: message.reconsumeTimes })
  }

  /**
   * The next up to `count` messages, of one lane and with as many attempts as the first, so that a message never
   * shares the fate of one that failed before. They stay here until settled. Empty when nothing waits.
   */
  takeMessages(count: number): readonly ProcessQueueEntry[] {
    invariant(this.#consuming.length === 0, 'a batch of the queue is still unsettled')
    this.#consuming = this.#redelivered.size > 0 ? this.#redelivered.shift(count) : this.#live.shift(count)
    return this.#consuming
  }

  /** The taken messages are done with: consumed or dead-lettered. */
  commit(): Passed {
    const last = this.#consuming.at(-1)
    invariant(last, 'commit of a batch that was not taken')
    const batch = this.#consuming
    this.#consuming = []
    if (!last.message.redelivery) {
      const next = last.message.queueOffset + 1
      // With nothing left here, what the filter dropped behind the last message is passed as well.
      return { lane: 'live', nextOffset: this.#live.size === 0 ? Math.max(next, this.#pulledTo) : next }
    }
    return {
      lane: 'redelivery',
      deadLetterIds: batch.flatMap(({ message }) => message.redelivery?.deadLetterId ?? []),
    }
  }

  /** The taken messages go back to their place, with the attempts they have reached. Answers how many. */
  makeMessageToConsumeAgain(attempts: (entry: ProcessQueueEntry) => number): number {
    const [first] = this.#consuming
    const { length } = this.#consuming
    if (!first) return 0
    const lane = first.message.redelivery ? this.#redelivered : this.#live
    lane.unshift(this.#consuming.map((entry) => withAttempts(entry, attempts(entry))))
    this.#consuming = []
    return length
  }

  /** Forgets the live messages: the queue goes on at `offset`. */
  clearTo(offset: number): void {
    invariant(this.#consuming.length === 0, 'a batch of the queue is still unsettled')
    this.#live.clear()
    this.#lastPut = offset - 1
    this.#pulledTo = offset
  }

  /** Waiting and taken messages. */
  get msgCount(): number {
    return this.#live.size + this.#redelivered.size + this.#consuming.length
  }

  /** Body bytes of the live messages that wait. */
  get msgSize(): number {
    return this.#live.bytes
  }

  get hasWaiting(): boolean {
    return this.#live.size > 0 || this.#redelivered.size > 0
  }

  get hasRedeliveries(): boolean {
    return this.#redelivered.size > 0
  }

  get isConsuming(): boolean {
    return this.#consuming.length > 0
  }
}

/** The handler sees how often its message was tried. */
function withAttempts(entry: ProcessQueueEntry, attempts: number): ProcessQueueEntry {
  if (attempts === entry.attempts) return entry
  return { message: { ...entry.message, reconsumeTimes: attempts }, attempts }
}

/** A double-ended list of entries. An array with a moving head: `shift` of a long array would copy it. */
class Lane {
  #entries: ProcessQueueEntry[] = []
  #head = 0
  bytes = 0

  get size(): number {
    return this.#entries.length - this.#head
  }

  push(entry: ProcessQueueEntry): void {
    this.#entries.push(entry)
    this.bytes += entry.message.body.byteLength
  }

  shift(count: number): readonly ProcessQueueEntry[] {
    const taken = this.#entries.slice(this.#head, this.#headRun(count))
    this.#head += taken.length
    for (const entry of taken) this.bytes -= entry.message.body.byteLength
    if (this.#head === this.#entries.length) this.#reset([])
    else if (this.#head >= 1024) this.#reset(this.#entries.slice(this.#head))
    return taken
  }

  unshift(entries: readonly ProcessQueueEntry[]): void {
    this.#reset([...entries, ...this.#entries.slice(this.#head)])
    for (const entry of entries) this.bytes += entry.message.body.byteLength
  }

  clear(): void {
    this.#reset([])
    this.bytes = 0
  }

  /** Where the run of up to `count` entries with equal attempts at the head ends. */
  #headRun(count: number): number {
    const attempts = this.#entries[this.#head]?.attempts
    const most = Math.min(this.#head + count, this.#entries.length)
    let end = this.#head
    while (end < most && this.#entries[end]?.attempts === attempts) end++
    return end
  }

  #reset(entries: ProcessQueueEntry[]): void {
    this.#entries = entries
    this.#head = 0
  }
}
