import type { Kills } from './kills.ts'
import type { RunNote } from './run-log.ts'
import { isDone, type Sample } from './samples.ts'
import type { Sent } from './sent.ts'

/** What a test of a group that keeps the order of keys has seen. Nothing waits for the group any more. */
export interface KeysCase {
  /** In the order of their queue. */
  readonly sent: Sent['places']
  readonly notes: readonly RunNote[]
  readonly kills: Kills
  readonly samples: readonly Sample[]
}

/** A key's messages, and how far they have come. */
interface Line {
  readonly numbers: readonly number[]
  /** Numbers of messages that have succeeded, or were rejected. */
  readonly ended: Set<number>
  readonly running: Set<RunNote>
}

/**
 * What is wrong: a message of a key begins when the one before it has ended, and no other run of the key is at work;
 * one that the group was done with does not begin again; each has succeeded or was rejected.
 */
export function judgeKeys(seen: KeysCase): string[] {
  const lines = linesOf(seen.sent)
  const problems: string[] = []
  for (const note of seen.notes) {
    const line = lines.get(note.key)
    if (line === undefined) problems.push(`${note.key} ${note.n} was never sent`)
    else if (note.what === 'start') problems.push(...began(line, note, seen.kills))
    else ended(line, note)
  }
  for (const [key, { numbers, ended }] of lines) {
    const missing = numbers.filter((n) => !ended.has(n))
    if (missing.length > 0) problems.push(`${key}: ${missing.join(', ')} never ended`)
  }
  return [...problems, ...judgeRepeats(seen)]
}

function linesOf(sent: Sent['places']): Map<string, Line> {
  const keys = new Map<string, number[]>()
  for (const { key, n } of sent) {
    const numbers = keys.get(key)
    if (numbers) numbers.push(n)
    else keys.set(key, [n])
  }
  return new Map(
    [...keys].map(([key, numbers]) => [key, { numbers, ended: new Set(), running: new Set<RunNote>() }]),
  )
}

function began(line: Line, start: RunNote, kills: Kills): string[] {
  const { numbers, ended, running } = line
  const problems: string[] = []
  const before = numbers[numbers.indexOf(start.n) - 1]
  const what = `${start.key} ${start.n} (attempt ${start.attempt}, pid ${start.pid})`
  if (before !== undefined && !ended.has(before)) problems.push(`${what} began before ${before} had ended`)
  for (const other of running) {
    // A handler in its consumer's process died with it.
    if (other.pid === other.owner && kills.between(other, start)) running.delete(other)
    else problems.push(`${what} began while ${other.n} of pid ${other.pid} was running`)
  }
  running.add(start)
  return problems
}

function ended({ ended, running }: Line, { what, n, pid }: RunNote): void {
  if (what !== 'retry') ended.add(n)
  for (const run of running) if (run.n === n && run.pid === pid) running.delete(run)
}

/** Nothing begins that the group was done with when somebody looked before. */
function judgeRepeats({ samples, sent, notes }: KeysCase): string[] {
  const lastStart = new Map<number, number>()
  for (const [place, { what, n }] of notes.entries()) if (what === 'start') lastStart.set(n, place)
  return sent.flatMap(({ n, queueId, offset }) => {
    const last = lastStart.get(n) ?? -1
    const wasDone = samples.some((sample) => sample.notes <= last && isDone(sample, queueId, offset))
    return wasDone ? [`${n} began again, although the group was done with it`] : []
  })
}
