import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Broker, openBroker, Producer, replayDeadLetters, verify } from '../../src/core/index.ts'
import { tempFolder } from '../helpers/temp.ts'
import { seeded } from '../replication/random.ts'
import { Crew, libraryMember } from './crew/crew.ts'
import { judgeKeys } from './crew/judge-keys.ts'
import type { HandlerPlan } from './crew/plan.ts'
import { RunLog } from './crew/run-log.ts'
import { waiting } from './crew/samples.ts'
import { Sent } from './crew/sent.ts'

/** The long form: RMQ_CRASH_MESSAGES=2000 RMQ_SEED=7. */
const SEED = Number(process.env.RMQ_SEED ?? 1)
const BATCH = 20
const BATCHES = Number(process.env.RMQ_CRASH_MESSAGES ?? 200) / BATCH

it(`keys that are parked and replayed all the time, by several replays at once: each in order (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const db = join(folder, 'rmq.db')
  const log = new RunLog(join(folder, 'log'))
  await using broker = await openBroker({ db })
  await using other = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 2 })
  const sent = new Sent(new Producer(broker))
  const plan: HandlerPlan = {
    log: log.path,
    seed: null,
    failPercent: 30,
    rejectPercent: 0,
    slowPercent: 5,
    slowMs: 10,
    workMs: 1,
  }
  const options = { onExhausted: 'park-key', maxReconsumeTimes: 0, suspendMs: 10 }
  const perKey = libraryMember(db, 'orderly', plan, { ...options, perKey: 4 })
  const crew = new Crew([libraryMember(db, 'orderly', plan, options), perKey, perKey])
  const chance = seeded(SEED)
  const replay = async (by: Broker) => {
    if ((await by.groupConfig('g')) === undefined) return
    await replayDeadLetters(by, { group: 'g', filter: {}, all: true, ratePerSecond: 500 * chance() + 50 })
  }
  for (let batch = 1; batch <= BATCHES; batch++) {
    await sent.send(BATCH, (n) => `k${n % 12}`)
    await Promise.all([replay(broker), replay(other), sleep(100 * chance())])
    if (batch % 4 === 0) await crew.kill(Math.floor(chance() * crew.size))
  }
  await crew.until(async () => {
    await Promise.all([replay(broker), replay(other)])
    return (await waiting(broker)) === 0 && (await broker.deadLetters.count('g', {})).get('g') === 0
  })
  await crew.stop()
  log.look()
  const { kills } = crew
  const problems = judgeKeys({ sent: sent.places, notes: log.notes, kills, samples: [] })
  expect([...problems, ...crew.problems]).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
  // Else it shows little.
  expect(log.notes.filter(({ what }) => what === 'retry').length).toBeGreaterThan(50)
})
