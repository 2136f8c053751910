import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Broker, openBroker, Producer, replayDeadLetters, verify } from '../../src/core/index.ts'
import { RunningRmq } from '../helpers/consumer.ts'
import { tempFolder } from '../helpers/temp.ts'
import { seeded } from '../replication/random.ts'
import { Crew, commandMember, libraryMember } from './crew/crew.ts'
import { judgeKeys } from './crew/judge-keys.ts'
import { execCommand, type HandlerPlan, pipeCommand } from './crew/plan.ts'
import { RunLog } from './crew/run-log.ts'
import { Sampler, waiting } from './crew/samples.ts'
import { Sent } from './crew/sent.ts'

/** The long form: RMQ_CRASH_MESSAGES=10000 RMQ_SEED=7. */
const SEED = Number(process.env.RMQ_SEED ?? 1)
const MESSAGES = Number(process.env.RMQ_CRASH_MESSAGES ?? 1500)
const KEYS = 100
const PARKED = 'k7'
const KILLS = 3
/** Of the parked key: sent before its replay, while it goes on, and after it. */
const LATER = 40

it(`a parked key: the others flow, and its replay comes before what is newer (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const db = join(folder, 'rmq.db')
  const log = new RunLog(join(folder, 'log'))
  const file = join(folder, 'stuck')
  writeFileSync(file, '')
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 4 })
  const sent = new Sent(new Producer(broker))
  for (let n = 0; n < MESSAGES; n += 500) await sent.send(Math.min(500, MESSAGES - n), (i) => `k${i % KEYS}`)
  const plan: HandlerPlan = {
    log: log.path,
    seed: SEED,
    failPercent: 2,
    rejectPercent: 0,
    slowPercent: 2,
    slowMs: 20,
    workMs: 1,
    stuck: { key: PARKED, file },
  }
  const crew = new Crew(posts(db, folder, plan))
  const sampler = new Sampler(db, log)
  const chance = seeded(SEED)
  const kill = () => crew.kill(Math.floor(chance() * crew.size))
  const ended = () => log.notes.filter(({ what }) => what === 'success').length
  const idle = async () => {
    sampler.look()
    return (await waiting(broker)) === 0
  }
  for (let n = 1; n <= KILLS; n++) {
    await crew.until(async () => {
      sampler.look()
      return ended() > (MESSAGES * 0.95 * n) / (KILLS + 1)
    })
    await kill()
  }
  await crew.until(idle)
  expect(ended()).toBeGreaterThanOrEqual(MESSAGES - MESSAGES / KEYS)
  expect(await states(broker)).toEqual(['dead', ...Array(MESSAGES / KEYS - 1).fill('parked')])

  const more = () => sent.send(LATER / 10, () => PARKED)
  for (let i = 0; i < 10; i++) await more()
  await crew.until(idle)
  rmSync(file)
  // At a pace at which the replay is cut, consumers die and newer messages come while it goes on.
  const args = ['dlq', 'replay', '-g', 'g', '--key', PARKED, '--yes', '--rate', '60/s']
  const first = new RunningRmq(db, args)
  await sleep(500)
  first.signal('SIGKILL')
  const second = new RunningRmq(db, args)
  for (let i = 0; i < 10; i++) {
    await more()
    await sleep(50)
    if (i === 2) await kill()
    if (i === 7) await crew.killAll()
  }
  expect(await second.ended).toEqual([0, null])
  for (let i = 0; i < 10; i++) await more()
  await crew.until(async () => {
    // What was parked behind the second replay.
    await replayDeadLetters(broker, { group: 'g', filter: { key: PARKED } })
    return (await idle()) && (await states(broker)).length === 0
  })
  await crew.stop()
  log.look()
  const problems = judgeKeys({
    sent: sent.places,
    notes: log.notes,
    kills: crew.kills,
    samples: [],
  })
  expect([...problems, ...crew.problems]).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
})

/** Of the parked key's dead letters, in their order. */
async function states(broker: Broker): Promise<readonly string[]> {
  if ((await broker.groupConfig('g')) === undefined) return []
  const { deadLetters } = await broker.deadLetters.list('g', { key: PARKED }, { limit: 10_000 })
  return deadLetters.map(({ state }) => state)
}

/** A member that keeps the order of queues, and three that keep that of keys. */
function posts(db: string, folder: string, plan: HandlerPlan) {
  const options = { onExhausted: 'park-key', maxReconsumeTimes: 3, suspendMs: 10, suspendMaxMs: 50 }
  const flags = ['--orderly', '--on-exhausted', 'park-key', '--max-reconsume', '3', '--suspend', '10ms']
  const perKey = ['--per-key', '4']
  return [
    libraryMember(db, 'orderly', plan, options),
    libraryMember(db, 'orderly', plan, { ...options, perKey: 8 }),
    commandMember(db, ...flags, ...perKey, '--pipe', pipeCommand(plan)),
    commandMember(db, ...flags, ...perKey, '--exec', execCommand(plan, folder)),
  ]
}
