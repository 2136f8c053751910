import type { DoneRange } from '../model/done-ranges.ts'
import type { MessageExt } from '../model/message.ts'
import { DoneTracker } from './done-tracker.ts'
import { Lane } from './lane.ts'
import {
  type Batch,
  deadLetterIds,
  type Passed,
  type ProcessQueue,
  type ProcessQueueEntry,
  toEntry,
  withAttempts,
} from './process-queue.ts'

/** Any message may run beside any other; the committed offset is the first that is not done with. */
export class ConcurrentProcessQueue implements ProcessQueue {
  readonly #live = new Lane()
  readonly #redelivered = new Lane()
  readonly #tracker = new DoneTracker()
  readonly #skip: readonly DoneRange[]
  /** Batches that went back and wait for `resume`, by the batch that was taken. */
  readonly #suspended = new Map<Batch, Batch>()
  /** Replayed messages that run: a lane that is read anew still holds them. */
  readonly #replaying = new Set<number>()
  #consuming = 0
  #suspendedCount = 0
  #isLaneWhole = true

  constructor(options: { readonly skip?: readonly DoneRange[] } = {}) {
    this.#skip = options.skip ?? []
  }

  putMessages(messages: readonly MessageExt[], pulledTo: number): void {
    for (const message of messages) {
      const { queueOffset } = message
      if (queueOffset <= this.#tracker.lastPut) continue
      const isDone =
        this.#skip.length > 0 && this.#skip.some(([from, to]) => queueOffset >= from && queueOffset < to)
      this.#tracker.put(queueOffset, isDone)
      if (isDone) this.#tracker.done(queueOffset)
      else this.#live.push(toEntry(message))
    }
    this.#tracker.pulled(pulledTo)
  }

  putRedeliveries(messages: readonly MessageExt[], isWhole = true): void {
    this.#isLaneWhole = isWhole
    this.#redelivered.clear()
    for (const message of messages) {
      if (!this.#replaying.has(message.redelivery?.deadLetterId ?? -1))
        this.#redelivered.push(toEntry(message))
    }
  }

  takeMessages(count: number): Batch {
    const isReplay = this.#redelivered.size > 0
    const batch = isReplay ? this.#redelivered.shift(count) : this.#live.shift(count)
    if (isReplay) for (const id of deadLetterIds(batch)) this.#replaying.add(id)
    this.#consuming += batch.length
    return batch
  }

  commit(batch: Batch): Passed {
    this.#consuming -= batch.length
    const ids = this.#endReplay(batch)
    if (ids.length > 0) return { lane: 'redelivery', deadLetterIds: ids }
    for (const { message } of batch) this.#tracker.done(message.queueOffset)
    return { lane: 'live', nextOffset: this.#tracker.committed }
  }

  makeMessageToConsumeAgain(batch: Batch, attempts: (entry: ProcessQueueEntry) => number): number {
    this.#consuming -= batch.length
    this.#suspendedCount += batch.length
    this.#suspended.set(
      batch,
      batch.map((entry) => withAttempts(entry, attempts(entry))),
    )
    return batch.length
  }

  resume(batch: Batch): void {
    const waiting = this.#suspended.get(batch)
    if (!waiting) return
    this.#suspended.delete(batch)
    this.#suspendedCount -= waiting.length
    const isReplay = this.#endReplay(waiting).length > 0
    const lane = isReplay ? this.#redelivered : this.#live
    lane.unshift(waiting)
  }

  clearTo(offset: number): void {
    this.#live.clear()
    this.#suspended.clear()
    this.#suspendedCount = 0
    this.#tracker.clearTo(offset)
  }

  get msgCount(): number {
    return this.#live.size + this.#redelivered.size + this.#consuming + this.#suspendedCount
  }

  get msgSize(): number {
    return this.#live.bytes
  }

  get span(): number {
    return Math.max(0, this.#tracker.lastPut - this.#tracker.committed)
  }

  get consuming(): number {
    return this.#consuming
  }

  get heldCount(): number {
    return 0
  }

  get hasWaiting(): boolean {
    return this.#live.size > 0 || this.#redelivered.size > 0
  }

  get hasRedeliveries(): boolean {
    return this.#redelivered.size > 0
  }

  get needsRedeliveries(): boolean {
    return !this.#isLaneWhole && !this.hasRedeliveries
  }

  get redeliveredCount(): number {
    return this.#redelivered.size + this.#replaying.size
  }

  get ahead(): readonly DoneRange[] {
    return this.#tracker.ahead
  }

  #endReplay(batch: Batch): readonly number[] {
    const ids = deadLetterIds(batch)
    for (const id of ids) this.#replaying.delete(id)
    return ids
  }
}
