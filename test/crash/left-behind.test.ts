import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openBroker, Producer, verify } from '../../src/core/index.ts'
import { PATIENCE, startConsumer, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { tempFolder } from '../helpers/temp.ts'
import { seeded } from '../replication/random.ts'
import { Crew, commandMember } from './crew/crew.ts'
import { judgeKeys } from './crew/judge-keys.ts'
import { execCommand, type HandlerPlan } from './crew/plan.ts'
import { RunLog } from './crew/run-log.ts'
import { Sampler, waiting } from './crew/samples.ts'
import { Sent } from './crew/sent.ts'

const SEED = Number(process.env.RMQ_SEED ?? 1)
const MESSAGES = Number(process.env.RMQ_CRASH_MESSAGES ?? 80)

it('the next owner waits for each of the handlers that a killed one left at work', async () => {
  const db = join(tempFolder(), 'rmq.db')
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const log = new HandlerLog()
  // Each of them ends at another time; the body says after how many tenths of a second.
  const start = (id: string) =>
    startConsumer(
      db,
      't',
      '--client-id',
      id,
      '--per-key',
      '4',
      '--exec',
      log.command('sleep $(printf %s "$body" | sed "s/^./&./; s/ .*//")', id),
    )
  const owner = start('a')
  await untilOwner(broker, 'a')
  start('b')
  await untilMembers(broker, ['a', 'b'])
  const producer = new Producer(broker)
  const bodies = ['05', '09', '13', '20']
  await producer.sendBatch(bodies.map((body, i) => ({ topic: 't', key: `k${i}`, body })))
  await expect.poll(() => log.starts('a').length, PATIENCE).toBe(4)
  owner.signal('SIGKILL')
  await expect
    .poll(() => log.notes().filter(({ who, what }) => who === 'b' && what === 'end').length, PATIENCE)
    .toBe(4)
  const notes = log.notes()
  const lastEnd = notes.findLastIndex(({ who }) => who === 'a')
  const firstStart = notes.findIndex(({ who }) => who === 'b')
  expect(notes.filter(({ who, what }) => who === 'a' && what === 'end')).toHaveLength(4)
  expect(firstStart).toBeGreaterThan(lastEnd)
  expect(log.starts('b').map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2])
  await expect.poll(() => waiting(broker), PATIENCE).toBe(0)
  expect((await verify(broker)).violations).toEqual([])
})

it(`members that are killed again and again: none of their handlers' keys runs twice at once (seed ${SEED})`, {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder()
  const db = join(folder, 'rmq.db')
  const log = new RunLog(join(folder, 'log'))
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const sent = new Sent(new Producer(broker))
  await sent.send(MESSAGES, (n) => `k${n % 10}`)
  const plan: HandlerPlan = {
    log: log.path,
    seed: SEED,
    failPercent: 10,
    rejectPercent: 5,
    slowPercent: 50,
    slowMs: 250,
    workMs: 20,
  }
  const flags = ['--orderly', '--per-key', '4', '--suspend', '10ms', '--suspend-max', '50ms']
  const member = commandMember(db, ...flags, '--exec', execCommand(plan, folder))
  const crew = new Crew([member, member])
  const sampler = new Sampler(db, log)
  const chance = seeded(SEED)
  const lag = async () => {
    sampler.look()
    return (await waiting(broker)) ?? MESSAGES
  }
  for (let kill = 1; kill <= 4; kill++) {
    await crew.until(async () => (await lag()) < MESSAGES * (1 - kill / 6))
    await sleep(50 * chance())
    const owner = crew.postOf((await broker.listLocks({ group: 'g' }))[0]?.pid)
    await crew.kill(Math.max(0, owner))
  }
  await crew.until(async () => (await lag()) === 0)
  await crew.stop()
  log.look()
  const { kills } = crew
  const problems = judgeKeys({
    sent: sent.places,
    notes: log.notes,
    kills,
    samples: sampler.samples,
  })
  expect([...problems, ...crew.problems]).toEqual([])
  expect((await verify(broker)).violations).toEqual([])
})
