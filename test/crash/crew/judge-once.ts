import type { DeadLetter } from '../../../src/core/index.ts'
import type { Kills } from './kills.ts'
import type { RunNote } from './run-log.ts'
import { isDone, type Sample } from './samples.ts'
import type { Sent } from './sent.ts'

/** What a test of a concurrent group has seen. Nothing waits for the group any more. */
export interface OnceCase {
  readonly sent: Sent['places']
  readonly notes: readonly RunNote[]
  readonly deadLetters: readonly DeadLetter[]
  readonly kills: Kills
  readonly samples: readonly Sample[]
  readonly maxReconsumeTimes: number
  readonly consumeTimeoutMs: number
}

/**
 * What is wrong: each message has succeeded, or is exactly one dead letter; a dead one was not given to a handler any
 * more, and had a reason to die; an attempt is made again only when its consumer was killed; no offset has passed a
 * message that was still in work.
 */
export function judgeOnce(seen: OnceCase): string[] {
  const notesOf = groupBy(seen.notes, ({ n }) => n)
  const deadOf = groupBy(seen.deadLetters, ({ message }) => Number(Buffer.from(message.body).toString()))
  const placeOf = new Map(seen.notes.map((note, place) => [note, place]))
  return seen.sent.flatMap((message) => {
    const notes = notesOf.get(message.n) ?? []
    const dead = deadOf.get(message.n) ?? []
    const problems = [
      ...judgeEnd(notes, dead, seen),
      ...judgeRepeats(notes, seen.kills),
      ...judgeOffset(message, notes, placeOf, seen.samples),
    ]
    return problems.map((problem) => `message ${message.n}: ${problem}; ${JSON.stringify(notes)}`)
  })
}

function judgeEnd(
  notes: readonly RunNote[],
  dead: readonly DeadLetter[],
  { maxReconsumeTimes, consumeTimeoutMs }: OnceCase,
): string[] {
  const [letter] = dead
  if (letter === undefined) {
    return notes.some(({ what }) => what === 'success') ? [] : ['it is no dead letter, and never succeeded']
  }
  const problems: string[] = []
  if (dead.length > 1) problems.push(`it is ${dead.length} dead letters`)
  const { attempts, deadLetteredAt, lastError } = letter
  const isRejected = notes.some(({ what }) => what === 'dead-letter')
  if (!isRejected && attempts !== maxReconsumeTimes + 1) {
    problems.push(`it died of ${attempts} attempts: ${lastError}`)
  }
  const late = notes.find(({ what, at }) => what === 'start' && at > deadLetteredAt)
  // A piped handler gets the next attempt when it has answered the last one, which may be too late.
  if (late && !notes.some((note) => isOverdue(note, notes, consumeTimeoutMs)))
    problems.push(`attempt ${late.attempt} began ${late.at - deadLetteredAt} ms after its death`)
  return problems
}

/** Whether the run ended, and took longer than it may. */
function isOverdue({ what, attempt, at }: RunNote, notes: readonly RunNote[], timeoutMs: number): boolean {
  const start = notes.find((note) => note.what === 'start' && note.attempt === attempt)
  return what !== 'start' && start !== undefined && at - start.at >= timeoutMs
}

function judgeRepeats(notes: readonly RunNote[], kills: Kills): string[] {
  const starts = notes.filter(({ what }) => what === 'start')
  return starts.flatMap((start, i) => {
    const before = starts.slice(0, i).findLast(({ attempt }) => attempt === start.attempt)
    if (!before || kills.between(before, start)) return []
    return [`attempt ${start.attempt} began twice, although its consumer was not killed`]
  })
}

function judgeOffset(
  { n, queueId, offset }: Sent['places'][number],
  notes: readonly RunNote[],
  placeOf: ReadonlyMap<RunNote, number>,
  samples: readonly Sample[],
): string[] {
  const end = notes.find(({ what }) => what !== 'start')
  const endsAt = (end && placeOf.get(end)) ?? Number.POSITIVE_INFINITY
  const passed = samples.some(
    (sample) => isDone(sample, queueId, offset) && endsAt >= sample.notes && !sample.away.has(n),
  )
  return passed ? ['it was passed while it was in work'] : []
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
