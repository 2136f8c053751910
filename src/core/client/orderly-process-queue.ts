import type { DoneRange } from '../model/done-ranges.ts'
import { invariant } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import { Lane, sameAttempts, sameKey } from './lane.ts'
import {
  type Batch,
  deadLetterIds,
  type Passed,
  type ProcessQueue,
  type ProcessQueueEntry,
  toEntry,
  withAttempts,
} from './process-queue.ts'

/**
 * One batch of the queue at a time. Offsets within a lane ascend, and whatever is consuming lies before all that
 * waits in its lane. With manual commit the batches that succeeded stay among the consuming ones (`hold`) until a
 * later one commits or rolls back everything since the last commit.
 */
export class OrderlyProcessQueue implements ProcessQueue {
  readonly ahead: readonly DoneRange[] = []
  readonly #skip: readonly DoneRange[]
  readonly #live: Lane
  readonly #redelivered: Lane
  #batch: Batch = []
  #held: ProcessQueueEntry[] = []
  #lastPut = -1
  #pulledTo = 0
  #isLaneWhole = true

  /** `skip`: what is done with already beyond the committed offset. `byKey`: a batch is of one key. */
  constructor(options: { readonly skip?: readonly DoneRange[]; readonly byKey?: boolean } = {}) {
    this.#skip = options.skip ?? []
    const together = options.byKey ? sameKey : sameAttempts
    this.#live = new Lane(together)
    this.#redelivered = new Lane(together)
  }

  putMessages(messages: readonly MessageExt[], pulledTo: number): void {
    this.#pulledTo = pulledTo
    for (const message of messages) {
      const { queueOffset } = message
      if (queueOffset <= this.#lastPut) continue
      this.#lastPut = queueOffset
      if (this.#skip.length > 0 && this.#skip.some(([from, to]) => queueOffset >= from && queueOffset < to))
        continue
      this.#live.push(toEntry(message))
    }
  }

  putRedeliveries(messages: readonly MessageExt[], isWhole = true): void {
    this.#isLaneWhole = isWhole
    this.#redelivered.clear()
    for (const message of messages) this.#redelivered.push(toEntry(message))
  }

  takeMessages(count: number): Batch {
    invariant(this.#batch.length === 0, 'a batch of the queue is still unsettled')
    this.#batch = this.#redelivered.size > 0 ? this.#redelivered.shift(count) : this.#live.shift(count)
    return this.#batch
  }

  commit(batch: Batch): Passed {
    const last = batch.at(-1)
    invariant(last && batch === this.#batch, 'commit of a batch that was not taken')
    this.#batch = []
    if (last.message.redelivery) return { lane: 'redelivery', deadLetterIds: deadLetterIds(batch) }
    this.#held = []
    const next = last.message.queueOffset + 1
    // With nothing left here, what the filter dropped behind the last message is passed as well.
    return { lane: 'live', nextOffset: this.#live.size === 0 ? Math.max(next, this.#pulledTo) : next }
  }

  /** The batch succeeded, and is committed by a later one. */
  hold(batch: Batch): void {
    invariant(batch === this.#batch, 'hold of a batch that was not taken')
    this.#batch = []
    this.#held.push(...batch)
  }

  /** Everything since the last commit goes back, this batch included. Answers how many. */
  rollback(batch: Batch): number {
    invariant(batch === this.#batch, 'rollback of a batch that was not taken')
    const all = [...this.#held, ...batch]
    this.#held = []
    this.#batch = []
    this.#live.unshift(all)
    return all.length
  }

  makeMessageToConsumeAgain(batch: Batch, attempts: (entry: ProcessQueueEntry) => number): number {
    const [first] = batch
    if (!first || batch !== this.#batch) return 0
    const lane = first.message.redelivery ? this.#redelivered : this.#live
    lane.unshift(batch.map((entry) => withAttempts(entry, attempts(entry))))
    this.#batch = []
    return batch.length
  }

  /** Nothing to do: the loop pauses as a whole. */
  resume(): void {}

  clearTo(offset: number): void {
    invariant(this.#batch.length === 0, 'a batch of the queue is still unsettled')
    this.#live.clear()
    this.#held = []
    this.#lastPut = offset - 1
    this.#pulledTo = offset
  }

  get msgCount(): number {
    return this.#live.size + this.#redelivered.size + this.consuming
  }

  get msgSize(): number {
    return this.#live.bytes
  }

  get span(): number {
    const first = this.#held[0] ?? this.#batch[0] ?? this.#live.first
    return first ? this.#lastPut - first.message.queueOffset : 0
  }

  get consuming(): number {
    return this.#batch.length + this.#held.length
  }

  get heldCount(): number {
    return this.#held.length
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
    return this.#redelivered.size
  }
}
