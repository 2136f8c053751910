import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

/** RocketMQ's clients wait for up to this long; whoever waits for a period waits about as long. */
const PERIOD_MS = 20_000
const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ key: 'k', body: `m${i}` }))

it('who waits for a lock says so in one line, and the list shows its holder', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, numbered(1))
  await using broker = await openBroker({ db })
  const holder = startConsumer(db, 't', '--client-id', 'z')
  await untilOwner(broker, 'z')
  holder.signal('SIGSTOP')
  // It sorts first, so the one queue is to be its own.
  const waiting = startConsumer(db, 't', '--client-id', 'a')
  await waiting.says(
    new RegExp(`^t queue 0 waits for the lock of z \\(${holder.child.pid}@.+\\), at most \\d+`, 'm'),
  )
  await sleep(1500)
  expect(waiting.stderr.match(/waits for/g)).toHaveLength(1)
  const { locks } = await json(run(['locks', 'list', '-g', 'g', '--json']))
  expect(locks).toMatchObject([
    { clientId: 'z', pid: holder.child.pid, host: expect.any(String), alive: true },
  ])
  expect(Date.parse(locks[0].expiresAt)).toBeGreaterThan(Date.parse(locks[0].acquiredAt))
  holder.signal('SIGCONT')
  await untilOwner(broker, 'a')
})

it('a handler that takes longer than the lock lives: it is renewed, and nobody complains', async () => {
  const { db } = shop()
  await seed(db, 't', 1, numbered(2))
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  const start = (id: string) =>
    startConsumer(
      db,
      't',
      '--client-id',
      id,
      '--lock-ttl',
      '2s',
      '--exec',
      log.command('[ "$body" = m1 ] || sleep 5', id),
    )
  const owner = start('a')
  await untilOwner(broker, 'a')
  const standby = start('b')
  const expiries: number[] = []
  const owners = new Set<string>()
  while (log.notes().length < 4) {
    for (const lock of await broker.listLocks({ group: 'g' })) {
      expiries.push(lock.expiresAt)
      owners.add(`${lock.clientId} ${lock.epoch} ${lock.state}`)
    }
    await sleep(200)
  }
  expect(owners).toEqual(new Set(['a 1 held']))
  expect((expiries.at(-1) ?? 0) - (expiries[0] ?? 0)).toBeGreaterThan(3000)
  expect(log.starts().map(({ who, body }) => `${who} ${body}`)).toEqual(['a m0', 'a m1'])
  expect(owner.stderr + standby.stderr).not.toMatch(/lost|expired|another consumer/)
})

it('a queue is consumed as soon as its lock is granted, at the start and after a rebalance', async () => {
  const { db } = shop()
  const eight = (name: string) =>
    Array.from({ length: 8 }, (_, queueId) => ({ body: `${name}${queueId}`, queueId }))
  await seed(db, 't', 8, eight('first '))
  await using broker = await openBroker({ db })
  const startedAt = performance.now()
  const first = startConsumer(db, 't', '--client-id', 'a')
  for (const { body } of eight('first ')) await first.prints(`${body}\n`)
  expect(performance.now() - startedAt).toBeLessThan(PERIOD_MS / 2)
  const second = startConsumer(db, 't', '--client-id', 'b')
  const ofSecond = async () =>
    (await broker.listLocks({ group: 'g' })).filter(({ clientId }) => clientId === 'b')
  await expect.poll(async () => (await ofSecond()).length, PATIENCE).toBe(4)
  const sharedAt = performance.now()
  const mine = (await ofSecond()).map(({ mq }) => mq)
  await broker.send(
    mine.map((mq) => ({ mq, messages: [{ topic: 't', body: Buffer.from(`second ${mq.queueId}`) }] })),
  )
  for (const { queueId } of mine) await second.prints(`second ${queueId}\n`)
  expect(performance.now() - sharedAt).toBeLessThan(PERIOD_MS / 2)
})

describe('a clean end frees the lock at once', () => {
  it.each(['SIGTERM', 'SIGINT', 'the count'] as const)('by %s', async (how) => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(3))
    await using broker = await openBroker({ db })
    const consumer = startConsumer(db, 't', ...(how === 'the count' ? ['-c', '1'] : []))
    await consumer.prints('m0\n')
    if (how !== 'the count') consumer.signal(how)
    expect(await consumer.ended).toEqual([0, null])
    expect(await broker.listLocks()).toEqual([])
    await run(['send', 't', 'last', '-q'])
    const next = await run(['consume', 't', '-g', 'g', '--orderly', '-e'], { timeoutMs: PERIOD_MS / 2 })
    expect(next.stdout).toMatch(/last\n$/)
    expect(next.stderr).not.toMatch(/waits/)
  })
})

it('a dead letter does not hold up its key', async () => {
  const { db, run } = shop()
  await seed(db, 't', 8, [{ key: 'k', body: 'bad' }])
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  startConsumer(db, 't', '--client-id', 'a', '--exec', log.command('[ "$body" != bad ] || exit 65'))
  await expect.poll(async () => (await broker.deadLetters.count('g', {})).get('g'), PATIENCE).toBe(1)
  await run(['send', 't', 'good', '--key', 'k'])
  await expect.poll(() => log.bodies(), PATIENCE).toEqual(['bad', 'good'])
  await untilMembers(broker, ['a'])
  const holders = (await broker.listLocks()).map(({ clientId, state }) => `${clientId} ${state}`)
  expect(holders).toEqual(Array(8).fill('a held'))
})
