import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Broker, openBroker, verify } from '../../src/core/index.ts'
import { judgeRuns, parseRuns, roundsByKey } from './judge.ts'

/** What happens when that share of all messages has been consumed. */
export interface Step {
  readonly at: number
  /** The topic's new number of queues; or a consumer is killed, and another one started. */
  readonly what: number | 'kill'
}

export interface Course {
  readonly producers: number
  readonly consumers: number
  readonly keys: number
  readonly rounds: number
  readonly firstQueues: number
  readonly steps: readonly Step[]
}

export interface Outcome {
  readonly problems: readonly string[]
  readonly runs: number
  readonly kills: number
  /** For each change, whether it held the group back: else it proves nothing. */
  readonly held: readonly boolean[]
}

const TIMEOUT_MS = 120_000
const LOOK_MS = 20

/**
 * Changes a topic's number of queues while processes send and consume at full speed, and kills consumers with -9; then
 * judges what handlers saw and what is stored.
 */
export async function changeQueues(course: Course): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'rmq-queue-count-'))
  const db = join(folder, 'rmq.db')
  const journal = join(folder, 'journal')
  const acks = join(folder, 'acks')
  const team = new Team()
  const broker = await openBroker({ db })
  try {
    await broker.createTopic({ topic: 't', queues: course.firstQueues })
    const consume = () => team.start('consumer.ts', [db, journal])
    const consumers = Array.from({ length: course.consumers }, consume)
    const producers = Array.from({ length: course.producers }, (_, i) =>
      team.start('producer.ts', [db, `p${i}`, `${course.keys}`, `${course.rounds}`, acks]),
    )
    const total = course.producers * course.keys * course.rounds
    const killed = new Set<number>()
    const held: boolean[] = []
    for (const { at, what } of course.steps) {
      await until(() => countLines(journal) >= at * total)
      if (what !== 'kill') {
        await broker.admin.alterTopic('t', { queues: what })
        held.push((await broker.admin.barriers('t')).length > 0)
      } else {
        const victim = consumers.shift() as ChildProcess
        killed.add(victim.pid as number)
        await team.kill(victim)
        consumers.push(consume())
      }
    }
    for (const producer of producers) await team.succeeds(producer)
    await until(async () => (await lag(broker)) === 0)
    for (const consumer of consumers) {
      consumer.kill('SIGTERM')
      await team.succeeds(consumer)
    }
    const runs = readRuns(journal)
    const problems = [
      ...judgeRuns(runs, killed),
      ...lost(course, roundsByKey(runs)),
      ...(await storeProblems(broker)),
    ]
    return { problems, runs: runs.length, kills: killed.size, held }
  } finally {
    await team.end()
    await broker.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function lost({ producers, keys, rounds }: Course, consumed: ReadonlyMap<string, number>): string[] {
  const sent = Array.from({ length: producers }, (_, p) =>
    Array.from({ length: keys }, (_, k) => `p${p}-${k}`),
  ).flat()
  return sent
    .filter((key) => consumed.get(key) !== rounds)
    .map((key) => `${key}: ${consumed.get(key) ?? 0} of ${rounds} rounds were consumed`)
}

async function storeProblems(broker: Broker): Promise<string[]> {
  const { violations } = await verify(broker, { topic: 't' })
  const barriers = await broker.admin.barriers('t')
  return [...violations, ...barriers].map((each) => JSON.stringify(each))
}

async function lag(broker: Broker): Promise<number> {
  return (await broker.progress('g', 't')).reduce((sum, queue) => sum + queue.lag, 0)
}

function readRuns(journal: string) {
  return existsSync(journal) ? parseRuns(readFileSync(journal, 'utf8')) : []
}

function countLines(journal: string): number {
  if (!existsSync(journal)) return 0
  const bytes = readFileSync(journal)
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`it did not come to that within ${TIMEOUT_MS} ms`)
    await sleep(LOOK_MS)
  }
}

/** The processes of one run. */
class Team {
  readonly #ended = new Map<ChildProcess, Promise<unknown[]>>()

  start(script: string, args: readonly string[]): ChildProcess {
    const path = fileURLToPath(new URL(script, import.meta.url))
    const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    this.#ended.set(child, once(child, 'exit'))
    return child
  }

  async kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL')
    await this.#ended.get(child)
  }

  async succeeds(child: ChildProcess): Promise<void> {
    const [code, signal] = (await this.#ended.get(child)) ?? []
    if (code !== 0) throw new Error(`a process ended with ${code ?? signal}`)
  }

  async end(): Promise<void> {
    for (const child of this.#ended.keys()) await this.kill(child)
  }
}
