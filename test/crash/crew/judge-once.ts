import type { DeadLetter } from '../../../src/core/index.ts'
import type { Kill } from './crew.ts'
import type { RunNote } from './run-log.ts'
import { isDone, type Sample } from './samples.ts'
import type { Sent } from './sent.ts'

/** What a test of a concurrent group has seen. Nothing waits for the group any more. */
export interface OnceCase {
  readonly sent: Sent['places']
  readonly notes: readonly RunNote[]
  readonly deadLetters: readonly DeadLetter[]
  readonly kills: readonly Kill[]
  readonly samples: readonly Sample[]
  readonly maxReconsumeTimes: number
  readonly consumeTimeoutMs: number
}

/**
 * What is wrong: each message has succeeded, or is exactly one dead letter; a dead one was not given to a handler any
 * more, and had a reason to die; an attempt is made again only behind a kill; no offset has passed a message that
 * nobody was done with.
 */
export function judgeOnce(seen: OnceCase): string[] {
  const notesOf = groupBy(seen.notes, ({ n }) => n)
  const deadOf = groupBy(seen.deadLetters, ({ message }) => Number(Buffer.from(message.body).toString()))
  const each = seen.sent.flatMap(({ n }) => {
    const notes = notesOf.get(n) ?? []
    const dead = deadOf.get(n) ?? []
    const problems = [...judgeEnd(notes, dead, seen), ...judgeRepeats(notes, seen.kills)]
    return problems.map((problem) => `message ${n}: ${problem}`)
  })
  return [...each, ...judgeOffsets(seen, notesOf)]
}

function judgeEnd(
  notes: readonly RunNote[],
  dead: readonly DeadLetter[],
  { maxReconsumeTimes }: OnceCase,
): string[] {
  const [letter] = dead
  if (letter === undefined) {
    return notes.some(({ what }) => what === 'success') ? [] : ['is no dead letter, and never succeeded']
  }
  const problems: string[] = []
  if (dead.length > 1) problems.push(`is ${dead.length} dead letters`)
  const { attempts, deadLetteredAt, lastError } = letter
  const isRejected = notes.some(({ what }) => what === 'dead-letter')
  if (!isRejected && attempts !== maxReconsumeTimes + 1)
    problems.push(`died of ${attempts} attempts: ${lastError}`)
  const late = notes.find(({ what, at }) => what === 'start' && at > deadLetteredAt)
  if (late)
    problems.push(`was started ${late.at - deadLetteredAt} ms after its death (attempt ${late.attempt})`)
  return problems
}

function judgeRepeats(notes: readonly RunNote[], kills: readonly Kill[]): string[] {
  const starts = notes.filter(({ what }) => what === 'start')
  return starts.flatMap((start, i) => {
    const before = starts.slice(0, i).findLast(({ attempt }) => attempt === start.attempt)
    if (!before || kills.some(({ at }) => at >= before.at - CLOCK_MS && at <= start.at)) return []
    return [`attempt ${start.attempt} began twice, with no kill in between`]
  })
}

/** Wall clocks are read a moment before what they stand for. */
const CLOCK_MS = 50

function judgeOffsets(
  { samples, sent, notes, consumeTimeoutMs }: OnceCase,
  notesOf: ReadonlyMap<number, readonly RunNote[]>,
): string[] {
  const places = new Map(notes.map((note, place) => [note, place]))
  return sent.flatMap(({ n, queueId, offset }) => {
    const own = notesOf.get(n) ?? []
    const end = own.find(({ what }) => what !== 'start')
    const endPlace = end ? (places.get(end) ?? 0) : Number.POSITIVE_INFINITY
    const timesOutAt = (own[0]?.at ?? Number.POSITIVE_INFINITY) + consumeTimeoutMs
    const passed = samples.find(
      (sample) =>
        isDone(sample, queueId, offset) &&
        endPlace >= sample.notes &&
        !sample.dead.has(n) &&
        sample.at < timesOutAt - CLOCK_MS,
    )
    return passed ? [`message ${n} was passed before anybody was done with it` + JSON.stringify({queueId,offset,own,at:passed.at,q:passed.offsets.find(q=>q.mq.queueId===queueId),endPlace,notes:passed.notes})] : []
  })
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
