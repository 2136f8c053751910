// A handler for `rmq consume --pipe`: applies one change of a file's history after another.
//
//   node apply.mjs FOLDER NAME [PAUSE_MS]
//
// In: one message record a line. Out: one status line for each. It keeps durable state of its own in FOLDER:
// a small file for each path (its present content and which message put it there), replaced in one step, and a
// journal of what it began and finished. A change is only applied to the very content that it was made from, so
// that an overtaken message cannot go unnoticed. Delivery is at least once: a message that this state has already
// seen is answered with success and changes nothing.

import { createHash } from 'node:crypto'
import { mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const [folder, name, pauseMs = '0'] = process.argv.slice(2)
if (folder === undefined || name === undefined) {
  process.stderr.write('usage: node apply.mjs FOLDER NAME [PAUSE_MS]\n')
  process.exit(2)
}
const stateFolder = join(folder, 'state')
mkdirSync(stateFolder, { recursive: true })
const journal = openSync(join(folder, `journal-${name}.ndjson`), 'a')

// Nobody reads the answers any more: the consumer died. What is not answered is delivered again elsewhere.
process.stdout.on('error', () => process.exit(0))

for await (const line of createInterface({ input: process.stdin })) {
  const record = JSON.parse(line)
  const change = JSON.parse(record.body)
  const entry = {
    consumer: name,
    queueId: record.queueId,
    offset: record.queueOffset,
    path: record.key,
    before: change.before,
    after: change.after,
  }
  note({ event: 'begin', ...entry })
  if (Number(pauseMs) > 0) await sleep(Number(pauseMs))
  const outcome = apply(entry)
  note({ event: 'done', ...entry, outcome })
  process.stdout.write(`${JSON.stringify(answer(record.msgId, outcome, entry))}\n`)
}

function apply({ path, queueId, offset, before, after }) {
  const file = join(stateFolder, createHash('sha256').update(path).digest('hex'))
  const present = read(file)
  if (present !== undefined && present.queueId === queueId && present.offset >= offset) return 'repeat'
  if ((present?.content ?? null) !== before) return 'conflict'
  const next = `${file}.${process.pid}`
  writeFileSync(next, JSON.stringify({ path, content: after, queueId, offset }))
  renameSync(next, file)
  return 'applied'
}

function answer(id, outcome, { path, before }) {
  if (outcome !== 'conflict') return { id, status: 'success' }
  return { id, status: 'dead-letter', error: `${path} does not have the content ${before}` }
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

// One write of one line to a file opened for appending. The clock is the same for all processes of the host.
function note(entry) {
  const at = Number(process.hrtime.bigint() / 1000n)
  writeSync(journal, `${JSON.stringify({ at, ...entry })}\n`)
}
