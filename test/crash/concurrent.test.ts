import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openBroker, Producer, verify } from '../../src/core/index.ts'
import { tempFolder } from '../helpers/temp.ts'
import { seeded } from '../replication/random.ts'
import { Crew, commandMember, libraryMember } from './crew/crew.ts'
import { judgeOnce } from './crew/judge-once.ts'
import { execCommand, type HandlerPlan, pipeCommand } from './crew/plan.ts'
import { RunLog } from './crew/run-log.ts'
import { Sampler, waiting } from './crew/samples.ts'
import { Sent } from './crew/sent.ts'

/** The long form: RMQ_CRASH_MESSAGES=10000 RMQ_SEED=7. */
const SEED = Number(process.env.RMQ_SEED ?? 1)
const MESSAGES = Number(process.env.RMQ_CRASH_MESSAGES ?? 1500)
const BATCH = 30
const BATCH_EVERY_MS = 80
const KILL_EVERY_BATCHES = 7
const STOP_EVERY_BATCHES = 16
const KILL_ALL_BATCH = 30
const MAX_RECONSUME = 2
const CONSUME_TIMEOUT_MS = 400

it(`members that are killed, handlers that fail and run out of time: each message once (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const db = join(folder, 'rmq.db')
  const log = new RunLog(join(folder, 'log'))
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 8 })
  const plan: HandlerPlan = {
    log: log.path,
    seed: SEED,
    failPercent: 20,
    rejectPercent: 3,
    slowPercent: 3,
    slowMs: 2 * CONSUME_TIMEOUT_MS,
    workMs: 5,
  }
  const crew = new Crew(posts(db, folder, plan))
  const sent = new Sent(new Producer(broker))
  const sampler = new Sampler(db, log)
  const chance = seeded(SEED)
  for (let batch = 0; sent.places.length < MESSAGES; batch++) {
    await sent.send(BATCH, (n) => `k${n % 200}`)
    sampler.look()
    const post = Math.floor(chance() * crew.size)
    if (batch === KILL_ALL_BATCH) await crew.killAll()
    else if (batch % KILL_EVERY_BATCHES === KILL_EVERY_BATCHES - 1) await crew.kill(post)
    // Queues change hands while handlers run.
    else if (batch % STOP_EVERY_BATCHES === STOP_EVERY_BATCHES - 1) await crew.replace(post)
    await sleep(BATCH_EVERY_MS)
  }
  await crew.until(async () => {
    sampler.look()
    return (await waiting(broker)) === 0
  })
  await crew.stop()
  log.look()
  const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: MESSAGES })
  const problems = judgeOnce({
    sent: sent.places,
    notes: log.notes,
    deadLetters,
    kills: crew.kills,
    samples: sampler.samples,
    maxReconsumeTimes: MAX_RECONSUME,
    consumeTimeoutMs: CONSUME_TIMEOUT_MS,
  })
  expect([...problems, ...crew.problems]).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
  // Else it shows little.
  expect(crew.kills.count).toBeGreaterThan(MESSAGES / BATCH / KILL_EVERY_BATCHES / 2)
  expect(log.notes.filter(({ what }) => what === 'dead-letter').length).toBeGreaterThan(0)
  expect(deadLetters.some(({ attempts }) => attempts === MAX_RECONSUME + 1)).toBe(true)
  const committed = await broker.committedOffsets('g', 't')
  expect(committed.reduce((sum, { offset }) => sum + offset, 0)).toBe(sent.places.length)
})

/** Two members with a handler in their process, one with a process a message, one with one process for all. */
function posts(db: string, folder: string, plan: HandlerPlan) {
  const flags = ['--max-reconsume', `${MAX_RECONSUME}`, '--suspend', '20ms', '--suspend-max', '100ms']
  const timeout = ['--consume-timeout', `${CONSUME_TIMEOUT_MS}ms`]
  const options = {
    threads: 8,
    maxReconsumeTimes: MAX_RECONSUME,
    suspendMs: 20,
    suspendMaxMs: 100,
    consumeTimeoutMs: CONSUME_TIMEOUT_MS,
  }
  const library = libraryMember(db, 'concurrent', plan, options)
  const exec = ['--threads', '4', '--exec', execCommand(plan, folder)]
  return [
    library,
    library,
    commandMember(db, ...flags, ...timeout, ...exec),
    commandMember(db, ...flags, ...timeout, '--pipe', pipeCommand(plan)),
  ]
}
