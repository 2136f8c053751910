import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openBroker, Producer, verify } from '../../src/core/index.ts'
import { tempFolder } from '../helpers/temp.ts'
import { seeded } from '../replication/random.ts'
import { Crew, commandMember, libraryMember } from './crew/crew.ts'
import { judgeKeys } from './crew/judge-keys.ts'
import { type HandlerPlan, pipeCommand } from './crew/plan.ts'
import { RunLog } from './crew/run-log.ts'
import { Sampler, waiting } from './crew/samples.ts'
import { Sent } from './crew/sent.ts'

/** The long form: RMQ_CRASH_MESSAGES=20000 RMQ_SEED=7. */
const SEED = Number(process.env.RMQ_SEED ?? 1)
const MESSAGES = Number(process.env.RMQ_CRASH_MESSAGES ?? 3000)
const KEYS = 1000
const STUCK = 'k7'
const KILLS = 5

it(`eight keys at once of one queue, failures and kills: each key in order, a stuck one alone (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const db = join(folder, 'rmq.db')
  const log = new RunLog(join(folder, 'log'))
  const file = join(folder, 'stuck')
  writeFileSync(file, '')
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const sent = new Sent(new Producer(broker))
  for (let n = 0; n < MESSAGES; n += 500) await sent.send(Math.min(500, MESSAGES - n), (i) => `k${i % KEYS}`)
  const plan: HandlerPlan = {
    log: log.path,
    seed: SEED,
    failPercent: 10,
    rejectPercent: 2,
    slowPercent: 2,
    slowMs: 40,
    workMs: 2,
    stuck: { key: STUCK, file },
  }
  const crew = new Crew(posts(db, plan))
  const sampler = new Sampler(db, log)
  const chance = seeded(SEED)
  const ended = () => log.notes.filter(({ what }) => what === 'success' || what === 'dead-letter').length
  const others = MESSAGES - MESSAGES / KEYS
  for (let kill = 1; kill <= KILLS; kill++) {
    await crew.until(async () => {
      sampler.look()
      return ended() > (others * kill) / (KILLS + 1)
    })
    // Mostly the one that has the queue.
    const owner = crew.postOf((await broker.listLocks({ group: 'g' }))[0]?.pid)
    await crew.kill(owner === -1 || chance() < 0.2 ? Math.floor(chance() * crew.size) : owner)
  }
  const lag = async () => {
    sampler.look()
    return await waiting(broker)
  }
  // The stuck key holds its own messages, and no others.
  await crew.until(async () => (await lag()) === MESSAGES / KEYS)
  const [committed] = await broker.committedOffsets('g', 't')
  expect(committed?.offset).toBe(7)
  expect(log.notes.filter(({ key, what }) => key === STUCK && what === 'success')).toEqual([])
  rmSync(file)
  await crew.until(async () => (await lag()) === 0)
  await crew.stop()
  log.look()
  const problems = judgeKeys({
    sent: sent.places,
    notes: log.notes,
    kills: crew.kills,
    samples: sampler.samples,
  })
  expect([...problems, ...crew.problems]).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
  expect(crew.kills.count).toBe(KILLS)
})

function posts(db: string, plan: HandlerPlan) {
  const options = { perKey: 8, suspendMs: 10, suspendMaxMs: 100 }
  const flags = ['--orderly', '--per-key', '8', '--suspend', '10ms', '--suspend-max', '100ms']
  const library = libraryMember(db, 'orderly', plan, options)
  return [library, library, commandMember(db, ...flags, '--pipe', pipeCommand(plan))]
}
