import type { DoneRange } from '../model/done-ranges.ts'
import { invariant } from '../model/errors.ts'
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

/** The messages of one key, in order. `state` says why none of them may start, if so. */
interface KeyLane {
  readonly key: string
  readonly live: Lane
  readonly redelivered: Lane
  state: 'ready' | 'running' | 'suspended'
  /** The batch that it was suspended for last. */
  suspendedFor: Batch
}

/** Messages without a key keep their order among themselves: a queue promises it, and they ask for no less. */
const NO_KEY = ''

/** Keys run beside each other, each in order; the committed offset is the first message that is not done with. */
export class PerKeyProcessQueue implements ProcessQueue {
  readonly #lanes = new Map<string, KeyLane>()
  /** Lanes that may start, in the order in which they became so. Holds no lane twice. */
  readonly #ready = new Set<KeyLane>()
  readonly #tracker = new DoneTracker()
  readonly #skip: readonly DoneRange[]
  readonly #replaying = new Set<number>()
  #consuming = 0
  #liveCount = 0
  #liveBytes = 0
  #redeliveredCount = 0
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
      else this.#putLive(toEntry(message))
    }
    this.#tracker.pulled(pulledTo)
  }

  putRedeliveries(messages: readonly MessageExt[], isWhole = true): void {
    this.#isLaneWhole = isWhole
    for (const lane of this.#lanes.values()) lane.redelivered.clear()
    this.#redeliveredCount = 0
    for (const message of messages) {
      if (this.#replaying.has(message.redelivery?.deadLetterId ?? -1)) continue
      this.#laneOf(message).redelivered.push(toEntry(message))
      this.#redeliveredCount++
    }
    for (const lane of this.#lanes.values()) {
      // A replayed message lets a blocked or pausing head of its key wait: it was there before it.
      if (lane.state === 'suspended' && isReplaced(lane)) lane.state = 'ready'
      this.#settleLane(lane)
    }
  }

  takeMessages(count: number): Batch {
    const [lane] = this.#ready
    if (!lane) return []
    this.#ready.delete(lane)
    lane.state = 'running'
    const isReplay = lane.redelivered.size > 0
    const batch = isReplay ? lane.redelivered.shift(count) : lane.live.shift(count)
    if (isReplay) {
      this.#redeliveredCount -= batch.length
      for (const id of deadLetterIds(batch)) this.#replaying.add(id)
    } else this.#count(batch, -1)
    this.#consuming += batch.length
    return batch
  }

  commit(batch: Batch): Passed {
    const lane = this.#end(batch)
    lane.state = 'ready'
    this.#settleLane(lane)
    const ids = deadLetterIds(batch)
    if (ids.length > 0) return { lane: 'redelivery', deadLetterIds: ids }
    for (const { message } of batch) this.#tracker.done(message.queueOffset)
    return { lane: 'live', nextOffset: this.#tracker.committed }
  }

  makeMessageToConsumeAgain(batch: Batch, attempts: (entry: ProcessQueueEntry) => number): number {
    if (batch.length === 0) return 0
    const lane = this.#end(batch)
    const entries = batch.map((entry) => withAttempts(entry, attempts(entry)))
    lane.state = 'suspended'
    lane.suspendedFor = batch
    if (batch[0]?.message.redelivery) {
      lane.redelivered.unshift(entries)
      this.#redeliveredCount += entries.length
    } else {
      lane.live.unshift(entries)
      this.#count(entries, 1)
    }
    return batch.length
  }

  resume(batch: Batch): void {
    const lane = this.#lanes.get(batch[0]?.message.key ?? NO_KEY)
    if (lane?.state !== 'suspended' || lane.suspendedFor !== batch) return
    lane.state = 'ready'
    this.#settleLane(lane)
  }

  clearTo(offset: number): void {
    this.#lanes.clear()
    this.#ready.clear()
    this.#liveCount = 0
    this.#liveBytes = 0
    this.#redeliveredCount = 0
    this.#tracker.clearTo(offset)
  }

  get msgCount(): number {
    return this.#liveCount + this.#redeliveredCount + this.#consuming
  }

  get msgSize(): number {
    return this.#liveBytes
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
    return this.#ready.size > 0
  }

  get hasRedeliveries(): boolean {
    return this.#redeliveredCount > 0
  }

  get needsRedeliveries(): boolean {
    return !this.#isLaneWhole && !this.hasWaiting
  }

  get redeliveredCount(): number {
    return this.#redeliveredCount + this.#replaying.size
  }

  get ahead(): readonly DoneRange[] {
    return this.#tracker.ahead
  }

  #putLive(entry: ProcessQueueEntry): void {
    const lane = this.#laneOf(entry.message)
    lane.live.push(entry)
    this.#count([entry], 1)
    this.#settleLane(lane)
  }

  #laneOf({ key }: MessageExt): KeyLane {
    const name = key ?? NO_KEY
    let lane = this.#lanes.get(name)
    if (!lane) {
      const [live, redelivered] = [new Lane(), new Lane()]
      lane = { key: name, live, redelivered, state: 'ready', suspendedFor: [] }
      this.#lanes.set(name, lane)
    }
    return lane
  }

  /** Puts a lane among those that may start, or takes it out; an empty one is forgotten. */
  #settleLane(lane: KeyLane): void {
    const isEmpty = lane.live.size + lane.redelivered.size === 0
    // Of a lane that is not all here any key may have a message that comes first.
    const mayStart = this.#isLaneWhole ? !isEmpty : lane.redelivered.size > 0
    if (lane.state === 'ready' && mayStart) this.#ready.add(lane)
    else this.#ready.delete(lane)
    if (isEmpty && lane.state !== 'running') this.#lanes.delete(lane.key)
  }

  #end(batch: Batch): KeyLane {
    const lane = this.#lanes.get(batch[0]?.message.key ?? NO_KEY)
    invariant(lane?.state === 'running', 'a batch is settled that was not taken')
    this.#consuming -= batch.length
    for (const id of deadLetterIds(batch)) this.#replaying.delete(id)
    return lane
  }

  #count(entries: Batch, sign: 1 | -1): void {
    this.#liveCount += sign * entries.length
    for (const { message } of entries) this.#liveBytes += sign * message.body.byteLength
  }
}

/** Whether another replayed message, or none, is in front of a suspended key than the one it is suspended for. */
function isReplaced({ redelivered, suspendedFor }: KeyLane): boolean {
  const first = redelivered.first?.message.redelivery
  return first?.deadLetterId !== suspendedFor[0]?.message.redelivery?.deadLetterId
}
