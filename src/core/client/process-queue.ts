import type { DoneRange } from '../model/done-ranges.ts'
import type { MessageExt } from '../model/message.ts'

/** A cached message and how often it was started before. */
export interface ProcessQueueEntry {
  readonly message: MessageExt
  readonly attempts: number
}

/** Messages that were taken together and are settled together; its identity is the array's. */
export type Batch = readonly ProcessQueueEntry[]

/** What `commit` passes: the offset to commit to, or the dead letters whose replay is done. */
export type Passed =
  | { readonly lane: 'live'; readonly nextOffset: number }
  | { readonly lane: 'redelivery'; readonly deadLetterIds: readonly number[] }

/**
 * The client's cache of one queue: a synchronous state machine without I/O (RocketMQ `ProcessQueue`). There is one
 * for each rule of what may run at once: `OrderlyProcessQueue`, `PerKeyProcessQueue`, `ConcurrentProcessQueue`.
 *
 * | operation                   | waiting             | consuming       |
 * |-----------------------------|---------------------|-----------------|
 * | putMessages                 | gains the new ones  | –               |
 * | takeMessages                | loses a batch       | gains it        |
 * | commit                      | –                   | loses the batch |
 * | makeMessageToConsumeAgain   | gets it back        | loses it        |
 *
 * Replayed messages wait in a lane of their own, in front of the live ones; a batch is of one lane.
 */
export interface ProcessQueue {
  /**
   * Adds pulled messages; `pulledTo` is the offset up to which the pull has looked, filtered messages included.
   * Messages at or below the last one put are already here or done, and are left out.
   */
  putMessages(messages: readonly MessageExt[], pulledTo: number): void
  /**
   * Replaces what waits in the redelivery lane: it is read anew each time, and the store is its truth. `isWhole` says
   * that these are all: until then no message starts that replayed ones may have to come before.
   */
  putRedeliveries(messages: readonly MessageExt[], isWhole?: boolean): void
  /** Up to `count` messages that may start now. They stay here until settled. Empty when none may. */
  takeMessages(count: number): Batch
  /** The batch is done with: consumed, sent back, or dead-lettered. */
  commit(batch: Batch): Passed
  /** The batch goes back to its place, with the attempts it has reached; it waits for `resume`. Answers how many. */
  makeMessageToConsumeAgain(batch: Batch, attempts: (entry: ProcessQueueEntry) => number): number
  /** A batch that went back may start again. */
  resume(batch: Batch): void
  /** Forgets the live messages: the queue goes on at `offset`. Nothing is consuming. */
  clearTo(offset: number): void
  /** Waiting and taken messages. */
  readonly msgCount: number
  /** Body bytes of the live messages that wait. */
  readonly msgSize: number
  /** Offsets between the first unfinished message and the last one put. */
  readonly span: number
  /** Taken messages. */
  readonly consuming: number
  /** Of them, those that succeeded and wait for a commit. */
  readonly heldCount: number
  /** Something may start. */
  readonly hasWaiting: boolean
  readonly hasRedeliveries: boolean
  /** Replayed messages are not all here, and of those that are none may start. */
  readonly needsRedeliveries: boolean
  /** Replayed messages that wait or run here. */
  readonly redeliveredCount: number
  /** What is done with beyond the first unfinished message. */
  readonly ahead: readonly DoneRange[]
}

/** The handler sees how often its message was tried. */
export function withAttempts(entry: ProcessQueueEntry, attempts: number): ProcessQueueEntry {
  if (attempts === entry.attempts) return entry
  return { message: { ...entry.message, reconsumeTimes: attempts }, attempts }
}

export function toEntry(message: MessageExt): ProcessQueueEntry {
  return { message, attempts: message.reconsumeTimes }
}

/** A batch is of one lane: the first entry tells. */
export function deadLetterIds(batch: Batch): readonly number[] {
  if (batch[0]?.message.redelivery === undefined) return NONE
  return batch.flatMap(({ message }) => message.redelivery?.deadLetterId ?? [])
}

const NONE: readonly number[] = []
