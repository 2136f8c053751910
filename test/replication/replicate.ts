import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock, compareTrees, judge, readJournals, readState, type SeenOffset } from '../../demo/judge.mjs'
import { rmq, rmqJson } from '../../demo/rmq.mjs'
import { Consumers } from './consumers.ts'
import type { DataSet } from './data.ts'
import { makePlan, type Plan } from './plan.ts'
import { Progress } from './progress.ts'

export interface Replication {
  readonly problems: readonly string[]
  readonly applied: number
  readonly repeats: number
  readonly kills: number
  /** Kept when there are problems, else gone. */
  readonly folder: string
}

const CONSUMERS = 3
const QUEUES = 8
const LOOK_MS = 10
const TIMEOUT_MS = 240_000

/**
 * Sends a history keyed by path to eight queues and lets three consumers of one group apply it, while consumers
 * are killed with -9 and started again as the seed says; then judges journals, state and store.
 */
export async function replicate(data: DataSet, seed: number, kills: number): Promise<Replication> {
  const folder = mkdtempSync(join(tmpdir(), 'rmq-replication-'))
  const db = join(folder, 'rmq.db')
  const work = join(folder, 'work')
  mkdirSync(work)
  const input = join(folder, 'input.ndjson')
  writeFileSync(input, data.lines)
  await rmq(db, ['topics', 'create', 'changes', '--queues', String(QUEUES)])
  await rmq(db, ['send', 'changes', '--input', 'ndjson', '--quiet'], input)

  const plan = makePlan(seed, kills, data.total)
  const consumers = new Consumers({ db, folder: work, pauseMs: plan.pauseMs })
  const seen: SeenOffset[] = []
  try {
    for (let i = 0; i < CONSUMERS; i++) consumers.start()
    const isDone = await run(db, work, plan, consumers, seen)
    await consumers.stop()
    const { violations } = (await rmqJson(db, ['verify', 'changes', '-g', 'replica'])) as {
      violations: unknown[]
    }
    const verdict = judge({ entries: readJournals(work), kills: consumers.kills, seen, total: data.total })
    const problems = [
      ...(isDone ? [] : [`not everything was consumed within ${TIMEOUT_MS / 1000} s`]),
      ...consumers.problems,
      ...verdict.problems,
      ...compareTrees(data.tree, verdict.content).map((each) => `by the journals: ${each}`),
      ...compareTrees(data.tree, readState(work)).map((each) => `in the state: ${each}`),
      ...violations.map((each) => `verify: ${JSON.stringify(each)}`),
    ]
    if (problems.length === 0) rmSync(folder, { recursive: true, force: true })
    const { applied, repeats } = verdict
    return { problems, applied, repeats, kills: consumers.kills.length, folder }
  } finally {
    consumers.destroy()
  }
}

/** Until all is consumed and every planned kill was made. False when that takes too long or a consumer gives up. */
async function run(
  db: string,
  work: string,
  plan: Plan,
  consumers: Consumers,
  seen: SeenOffset[],
): Promise<boolean> {
  const progress = new Progress(work)
  const deadline = clock() + TIMEOUT_MS * 1000
  let planned = [...plan.kills]
  let isConsumed = false
  let isLooking = false
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      isConsumed = await lookAtOffsets(db, seen)
      isLooking = false
    } catch (error) {
      consumers.problems.push(String(error))
    }
  }
  while (clock() < deadline && consumers.problems.length === 0) {
    const [next, ...later] = planned
    if (next === undefined && isConsumed) return true
    if (next !== undefined && progress.look() >= next.atProgress && consumers.kill(next)) planned = later
    void look()
    await sleep(LOOK_MS)
  }
  return false
}

/** Notes the committed offsets; true when nothing is left to consume. */
async function lookAtOffsets(db: string, seen: SeenOffset[]): Promise<boolean> {
  interface Row {
    readonly queueId: number
    readonly committedOffset: number | null
    readonly lag: number
  }
  const args = ['offsets', 'list', '--topic', 'changes', '-g', 'replica', '--json']
  const { stdout } = await rmq(db, args).catch((error: Error) => {
    // 3: before the first consumer has joined there is no such group.
    if (error.message.includes('ended with 3')) return { stdout: '{"offsets":[]}' }
    throw error
  })
  const at = clock()
  const { offsets } = JSON.parse(stdout) as { readonly offsets: readonly Row[] }
  for (const { queueId, committedOffset } of offsets) {
    if (committedOffset !== null) seen.push({ at, queueId, committedOffset })
  }
  return offsets.length === QUEUES && offsets.every((row) => row.lag === 0)
}
