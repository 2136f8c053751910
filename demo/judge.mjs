// Judges what the handlers of apply.mjs did, from their journals and their state alone. Knows nothing of rmq.
// Times are microseconds of the host's monotonic clock.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The present moment on the clock of the journals. */
export function clock() {
  return Number(process.hrtime.bigint() / 1000n)
}

/** All journal entries of a folder, in the order in which they happened. */
export function readJournals(folder) {
  const names = readdirSync(folder).filter((name) => name.startsWith('journal-'))
  const lines = names.flatMap((name) => completeLines(readFileSync(join(folder, name), 'utf8')))
  return lines.map((line) => JSON.parse(line)).sort((a, b) => a.at - b.at)
}

/** A killed writer may leave half a line. */
function completeLines(text) {
  return text.split('\n').slice(0, -1)
}

/** The end state: path to content. */
export function readState(folder) {
  const state = new Map()
  for (const name of readdirSync(join(folder, 'state'))) {
    if (name.includes('.')) continue
    const { path, content } = JSON.parse(readFileSync(join(folder, 'state', name), 'utf8'))
    if (content !== null) state.set(path, content)
  }
  return state
}

/** A listing of `content<TAB>path` lines as a map of path to content. */
export function parseTree(text) {
  const rows = text.split('\n').filter((line) => line !== '')
  return new Map(rows.map((line) => line.split('\t')).map(([content, path]) => [path, content]))
}

/** What is wrong with `actual`, one sentence a path. */
export function compareTrees(expected, actual) {
  const problems = []
  for (const [path, content] of expected) {
    if (actual.get(path) !== content)
      problems.push(`${path} is ${actual.get(path) ?? 'missing'}, not ${content}`)
  }
  for (const path of actual.keys()) if (!expected.has(path)) problems.push(`${path} should not be there`)
  return problems
}

/**
 * Holds the journals against what ordered, at-least-once delivery promises:
 * first deliveries of a queue are gap-free and ascending; each change meets the content it was made from; a repeat
 * comes only after the consumer that had the message before was killed, and never from below a committed offset
 * that was seen earlier; two handlers never work on one queue at the same time; nothing is left out.
 *
 * @param entries what `readJournals` gives
 * @param kills   `{ at, consumer }` for each consumer that was killed, noted just before the kill
 * @param seen    `{ at, queueId, committedOffset }`, noted just after it was read
 * @param total   how many messages were sent
 */
export function judge({ entries, kills, seen, total }) {
  const problems = []
  const queues = new Map()
  const content = new Map()
  let repeats = 0
  for (const entry of entries) {
    const queue = queues.get(entry.queueId) ?? { next: 0, lastConsumer: new Map(), open: undefined }
    queues.set(entry.queueId, queue)
    if (entry.event === 'done') {
      problems.push(...finish(queue, entry))
      continue
    }
    problems.push(...overlap(queue, entry, entries))
    queue.open = entry
    if (entry.offset < queue.next) {
      repeats++
      problems.push(...repeat(queue, entry, kills, seen))
    } else {
      if (entry.offset > queue.next) problems.push(`${where(entry)} came before offset ${queue.next}`)
      if ((content.get(entry.path) ?? null) !== entry.before) {
        problems.push(`${where(entry)}: ${entry.path} had ${content.get(entry.path) ?? 'no content'}`)
      }
      content.set(entry.path, entry.after)
      queue.next = entry.offset + 1
    }
    queue.lastConsumer.set(entry.offset, entry.consumer)
  }
  const applied = [...queues.values()].reduce((sum, queue) => sum + queue.next, 0)
  if (applied !== total) problems.push(`${applied} of ${total} changes were handled`)
  for (const [path, value] of content) if (value === null) content.delete(path)
  return { applied, repeats, problems, content }
}

function finish(queue, entry) {
  if (isSame(queue.open, entry)) queue.open = undefined
  if (entry.outcome !== 'conflict') return []
  return [`${where(entry)}: ${entry.path} did not have the content ${entry.before}`]
}

/** An open run that never ends was cut short by a kill; one that ends later ran side by side with this one. */
function overlap(queue, entry, entries) {
  const { open } = queue
  if (open === undefined) return []
  const end = entries.find((other) => other.event === 'done' && other.at > entry.at && isSame(other, open))
  return end === undefined ? [] : [`${where(entry)} began while ${where(open)} was still running`]
}

function repeat(queue, entry, kills, seen) {
  const problems = []
  const before = queue.lastConsumer.get(entry.offset)
  if (!kills.some((kill) => kill.consumer === before && kill.at < entry.at)) {
    problems.push(`${where(entry)} was repeated although ${before} had not been killed`)
  }
  const committed = seen.filter((each) => each.queueId === entry.queueId && each.at < entry.at)
  const highest = Math.max(0, ...committed.map((each) => each.committedOffset))
  if (entry.offset < highest)
    problems.push(`${where(entry)} was repeated below the committed offset ${highest}`)
  return problems
}

function isSame(a, b) {
  return a?.consumer === b.consumer && a.queueId === b.queueId && a.offset === b.offset
}

function where(entry) {
  return `queue ${entry.queueId} offset ${entry.offset} (${entry.consumer})`
}
