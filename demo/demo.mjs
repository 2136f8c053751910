// The main job of rmq on real input, told step by step. Uses nothing but the rmq command.
//
//   node demo/demo.mjs [EXPECTED_TREE]
//
// Exit code 0 when the end state equals the expected one and order held, else 1.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { clock, compareTrees, judge, parseTree, readJournals, readState } from './judge.mjs'
import { quote, rmq, rmqJson, start } from './rmq.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const HISTORY = here('history.ndjson')
const TREE = process.argv[2] ?? here('history.tree')
const TOPIC = 'history'
const GROUP = 'replica'
const WORKERS = ['worker-1', 'worker-2', 'worker-3']
const PAUSE_MS = 8
const PATIENCE_MS = 60_000

const total = readFileSync(HISTORY, 'utf8').trimEnd().split('\n').length
const folder = mkdtempSync(join(tmpdir(), 'rmq-demo-'))
const db = join(folder, 'demo.db')
const workers = new Map()
const kills = []
const seen = []
let currentLocks = []

try {
  await send()
  await consume()
  const victim = await killOne()
  await finish()
  await showTakeover(victim)
  process.exitCode = await compare()
} catch (error) {
  say(`\nThe demo failed: ${error.message}`)
  process.exitCode = 1
} finally {
  for (const { child } of workers.values()) child.kill('SIGKILL')
  if (process.exitCode === 0) rmSync(folder, { recursive: true, force: true })
  else say(`What it left is in ${folder}`)
}

async function send() {
  say(`The input: the first ${total} changes of a public project's git history (demo/history.ndjson).`)
  say(
    'A change says which file it touches and from which content to which. It can only be applied to the content',
  )
  say('it was made from, so all changes of one file have to be applied in order.')
  title(1, `send them, keyed by path: rmq send ${TOPIC} --input ndjson < demo/history.ndjson`)
  await rmq(db, ['topics', 'create', TOPIC, '--queues', '8'])
  await rmq(db, ['send', TOPIC, '--input', 'ndjson', '--quiet'], HISTORY)
  const { queueStats } = await rmqJson(db, ['topics', 'describe', TOPIC])
  const sizes = queueStats.map((queue) => queue.maxOffset - queue.minOffset)
  say(`   8 queues hold ${sizes.join(' + ')} = ${sizes.reduce((a, b) => a + b, 0)} messages.`)
  say('   All changes of one path are in one queue, in the order in which they were sent.')
}

async function consume() {
  title(
    2,
    `start three consumers of one group: rmq consume ${TOPIC} -g ${GROUP} --orderly --pipe 'node demo/apply.mjs …'`,
  )
  for (const name of WORKERS) startWorker(name)
  await until(
    () => currentLocks.length === 8 && holdersOf(currentLocks).size === WORKERS.length,
    refreshLocks,
  )
  say('   Each queue has one owner; nobody else may take a message from it (rmq locks list):')
  for (const [owner, queues] of holdersOf(currentLocks))
    say(`     ${owner}  owns queues ${queues.join(', ')}`)
}

function startWorker(name) {
  const handler = [process.execPath, here('apply.mjs'), folder, name, String(PAUSE_MS)].map(quote).join(' ')
  const args = ['consume', TOPIC, '-g', GROUP, '--orderly', '--client-id', name, '--pipe', handler, '--quiet']
  workers.set(name, start(db, args, ['ignore', 'ignore', 'inherit']))
}

async function killOne() {
  await until(() => handled() > total / 3, refreshLocks)
  const victim = [...holdersOf(currentLocks).keys()][0]
  const queues = holdersOf(currentLocks).get(victim)
  title(3, `kill -9 ${victim} in the middle of its work, after ${handled()} changes`)
  kills.push({ at: clock(), consumer: victim })
  workers.get(victim).child.kill('SIGKILL')
  return { name: victim, queues, locks: currentLocks }
}

async function finish() {
  await until(async () => {
    const { offsets } = await rmqJson(db, ['offsets', 'list', '-g', GROUP])
    const at = clock()
    for (const { queueId, committedOffset } of offsets) seen.push({ at, queueId, committedOffset })
    return offsets.length === 8 && offsets.every((queue) => queue.lag === 0)
  }, refreshLocks)
  for (const [name, { child, ended }] of workers) {
    if (kills.some((kill) => kill.consumer === name)) continue
    child.kill('SIGTERM')
    const { code } = await ended
    if (code !== 0) throw new Error(`${name} ended with ${code} instead of 0`)
  }
}

async function showTakeover(victim) {
  const [{ at }] = kills
  const begins = readJournals(folder).filter((entry) => entry.event === 'begin' && entry.at > at)
  say(
    '   The others notice by the lock that the kernel let go of, not by waiting for a lease of 60 s to end:',
  )
  for (const queueId of victim.queues) {
    const heir = begins.find((entry) => entry.queueId === queueId && entry.consumer !== victim.name)
    const [was, is] = [victim.locks, currentLocks].map((locks) =>
      locks.find((lock) => lock.queueId === queueId),
    )
    if (heir === undefined) say(`     queue ${queueId}: nothing was left to do`)
    else {
      const seconds = ((heir.at - at) / 1e6).toFixed(2)
      const epochs = is === undefined ? '' : `, epoch ${was.epoch} -> ${is.epoch}`
      say(
        `     queue ${queueId}: ${heir.consumer} went on at offset ${heir.offset} after ${seconds} s${epochs}`,
      )
    }
  }
  say(
    '   A commit of an older epoch would be refused: a consumer that only seemed dead cannot move an offset.',
  )
}

async function compare() {
  title(4, 'compare the end')
  const verdict = judge({ entries: readJournals(folder), kills, seen, total })
  const expected = parseTree(readFileSync(TREE, 'utf8'))
  const state = readState(folder)
  const differences = compareTrees(expected, state)
  const { violations } = await rmqJson(db, ['verify', TOPIC, '-g', GROUP])
  const problems = [...verdict.problems, ...differences, ...violations.map((each) => JSON.stringify(each))]
  say(`   ${verdict.applied} of ${total} changes applied, each to the content it was made from.`)
  say(
    `   ${verdict.repeats} delivered a second time, because ${kills[0].consumer} died before it could commit them.`,
  )
  say(`   ${state.size} files at the end, ${expected.size} expected, ${differences.length} differ.`)
  say(`   rmq verify: ${violations.length} violations on the file.`)
  for (const problem of problems.slice(0, 10)) say(`   WRONG: ${problem}`)
  say(
    problems.length === 0
      ? '\nSame end state, in spite of the kill.'
      : `\n${problems.length} things are wrong.`,
  )
  return problems.length === 0 ? 0 : 1
}

async function refreshLocks() {
  const { locks } = await rmqJson(db, ['locks', 'list', '-g', GROUP])
  if (locks.length > 0) currentLocks = locks
  await sleep(20)
}

function holdersOf(locks) {
  const holders = new Map()
  for (const lock of locks) holders.set(lock.clientId, [...(holders.get(lock.clientId) ?? []), lock.queueId])
  return new Map([...holders].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** How many changes the handlers have finished so far; cheap enough to ask often. */
function handled() {
  const journals = readdirSync(folder).filter((name) => name.startsWith('journal-'))
  if (journals.every((name) => statSync(join(folder, name)).size === 0)) return 0
  return readJournals(folder).filter((entry) => entry.event === 'done').length
}

async function until(isReached, look) {
  const deadline = clock() + PATIENCE_MS * 1000
  for (;;) {
    if (look !== undefined) await look()
    if (await isReached()) return
    for (const [name, { child }] of workers) {
      const isKilled = kills.some((kill) => kill.consumer === name)
      if (child.exitCode !== null && !isKilled) throw new Error(`${name} ended early with ${child.exitCode}`)
    }
    if (clock() > deadline) throw new Error(`nothing came of it within ${PATIENCE_MS / 1000} s`)
  }
}

function title(number, text) {
  say(`\n${number}. ${text}`)
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
