import type { GroupPlan, MessageKind } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import type { AttemptState, DeadLetterState } from '../store-view.ts'

/** What a producer made; its JSON is the body. */
export interface SimMessage {
  readonly id: number
  readonly kind: MessageKind
  readonly tag: string
  readonly key: string | undefined
  /** Name of the producer's process, and the place of the message among all that it sent. */
  readonly producer: string
  readonly seq: number
}

/** A queue as it was seen to grow: trimmed messages stay known. */
export interface QueueModel {
  readonly row: number
  readonly topic: string
  readonly queueId: number
  min: number
  readonly messages: SimMessage[]
}

/** How an owner lost a lock. */
export type Loss = 'released' | 'dead' | 'expired' | 'forced'

/** One client's time with one lock, in one epoch. */
export interface Tenure {
  readonly process: SimProcess
  readonly epoch: number
  readonly ttlMs: number
  expiresMono: number
  /** By the machine's true monotonic clock, whatever the store says. */
  leaseEnd: number
  /** Offsets that a handler took with success, or that became dead letters. */
  readonly settled: Set<number>
  lostBy: Loss | undefined
}

export type RunEnd = 'success' | 'retry' | 'dead-letter' | 'cut'

/** One call of a handler. */
export interface Run {
  readonly process: SimProcess
  readonly place: GroupQueue
  readonly offsets: readonly number[]
  /** Of each: 0 for a live message, n for its n-th replay. A batch is all live or all replayed. */
  readonly replays: readonly number[]
  /** Of the lock, when the run started; `undefined`: the process did not own it. */
  readonly tenure: Tenure | undefined
  /** The last one that this process had. */
  readonly lastTenure: Tenure | undefined
  /** Its start was stored before it began. */
  readonly isStored: boolean
  end: RunEnd | undefined
}

/** One queue as one group consumes it. */
export interface GroupQueue {
  readonly group: GroupPlan
  readonly queue: QueueModel
  committed: number | undefined
  epoch: number
  tenure: Tenure | undefined
  /** Those that have ended, the last one last. */
  readonly pastTenures: Tenure[]
  readonly active: Set<Run>
  /** Live offsets with a run. */
  readonly begun: Set<number>
  /** Runs that began or were stored as begun, by offset and replay. */
  readonly charges: Map<string, number>
  /** What the store should count, by offset and replay. */
  readonly counted: Map<string, number>
  /** Starts that were stored and whose run has not begun yet. */
  readonly announced: Map<string, SimProcess>
  /** All runs, by offset and replay. */
  readonly runs: Map<string, Run[]>
  attempts: ReadonlyMap<string, AttemptState>
  readonly deadLetters: Map<number, DeadLetterState>
}

export function positionKey(offset: number, replay: number): string {
  return `${offset}/${replay}`
}

export function placeName({ group, queue }: GroupQueue): string {
  return `${group.name} ${queue.topic}:${queue.queueId}`
}

export function bump(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

/** Whether the group wants the message; what it does not want is passed over. */
export function isWanted({ tags }: GroupPlan, message: SimMessage | undefined): boolean {
  return message !== undefined && (tags === undefined || tags.includes(message.tag))
}

/** The first offset from `from` on that still has to be consumed by the owner, or the end of the queue. */
export function nextOpen(place: GroupQueue, tenure: Tenure | undefined, from: number): number {
  const { messages } = place.queue
  let offset = from
  while (offset < messages.length) {
    const isDone = tenure?.settled.has(offset) || place.deadLetters.has(offset)
    if (isWanted(place.group, messages[offset]) && !isDone) break
    offset++
  }
  return offset
}

/** The last run of a message by a process, if it had one. */
export function lastRunOf(place: GroupQueue, key: string, process: SimProcess | undefined): Run | undefined {
  return place.runs.get(key)?.findLast((run) => run.process === process)
}

/** Which process's tenure, of the present one and those that ended, was the last. */
export function lastTenureOf(place: GroupQueue, process: SimProcess): Tenure | undefined {
  if (place.tenure?.process === process) return place.tenure
  return place.pastTenures.findLast((tenure) => tenure.process === process)
}
