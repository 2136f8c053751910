import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const BAD_FAILS = '[ "$body" != bad ]'
const badAndGood = [
  { key: 'k', body: 'bad' },
  { key: 'k', body: 'good' },
]

describe('a limit of N further tries', () => {
  it.each([1, 3, 16])('N = %i: N + 1 runs, one dead letter, and the next message', async (n) => {
    const { db, run } = shop()
    await seed(db, 't', 1, badAndGood)
    const log = new HandlerLog()
    const retry = ['--max-reconsume', String(n), '--suspend', '10ms', '--suspend-max', '10ms']
    await run(['consume', 't', '-g', 'g', '--orderly', '-e', ...retry, '--exec', log.command(BAD_FAILS)])
    expect(log.bodies()).toEqual([...Array(n + 1).fill('bad'), 'good'])
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters).toMatchObject([{ body: 'bad', attempts: n + 1 }])
  })

  it('once reached, no pause is left before the dead letter or the next message', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, badAndGood)
    const log = new HandlerLog()
    const retry = ['--max-reconsume', '0', '--suspend', '25s']
    await run(['consume', 't', '-g', 'g', '--orderly', '-e', ...retry, '--exec', log.command(BAD_FAILS)])
    const [badStart, badEnd, goodStart] = log.notes()
    expect([badStart, badEnd, goodStart].map((note) => note?.body)).toEqual(['bad', 'bad', 'good'])
    expect((goodStart?.at ?? 0) - (badEnd?.at ?? 0)).toBeLessThan(5000)
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    const diedAt = Date.parse(deadLetters[0].deadLetteredAt)
    expect(diedAt - (badEnd?.at ?? 0)).toBeLessThan(5000)
  })
})

it('a failure that outlasts several lock lives: the same owner goes on when it is over', async () => {
  const { db } = shop()
  await seed(
    db,
    't',
    1,
    ['1', '2', '3'].map((body) => ({ key: 'k', body })),
  )
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  const outage = join(log.folder, 'outage')
  writeFileSync(outage, '')
  const pause = ['--suspend', '200ms', '--suspend-max', '400ms', '--lock-ttl', '1500ms']
  const consumer = startConsumer(
    db,
    't',
    '--client-id',
    'a',
    ...pause,
    '--exec',
    log.command(`[ ! -e ${outage} ]`),
  )
  await expect.poll(() => log.starts().length, PATIENCE).toBeGreaterThan(0)
  await sleep(4500)
  rmSync(outage)
  await expect.poll(() => log.bodies().at(-1), PATIENCE).toBe('3')
  const bodies = log.bodies()
  expect(bodies.filter((body, i) => body !== bodies[i - 1])).toEqual(['1', '2', '3'])
  expect(bodies.filter((body) => body !== '1')).toEqual(['2', '3'])
  expect(await broker.listLocks({ group: 'g' })).toMatchObject([{ clientId: 'a', epoch: 1 }])
  expect(consumer.stderr).not.toMatch(/lock/)
})

it('a poison without a limit holds its own queue only, and the group shows it', async () => {
  const { db, run } = shop()
  const goods = Array.from({ length: 45 }, (_, i) => ({
    key: `k${i % 3}`,
    body: `m${i}`,
    queueId: 1 + (i % 3),
  }))
  await seed(db, 't', 4, [
    { key: 'p', body: 'bad', queueId: 0 },
    { key: 'p', body: 'behind', queueId: 0 },
    ...goods,
  ])
  const log = new HandlerLog()
  const work = '[ "$body" != bad ] || { echo no route >&2; exit 1; }'
  const consumer = startConsumer(db, 't', '--suspend', '300ms', '--exec', log.command(work))
  const lags = async () =>
    (await json(run(['offsets', 'list', '-g', 'g', '--json']))).offsets.map(({ lag }: { lag: number }) => lag)
  await expect.poll(lags, { ...PATIENCE, interval: 200 }).toEqual([2, 0, 0, 0])
  await expect.poll(() => log.bodies().filter((body) => body === 'bad').length, PATIENCE).toBeGreaterThan(1)
  const described = await json(run(['groups', 'describe', 'g', '--json']))
  expect(described).toMatchObject({ state: 'blocked' })
  expect(described.queues[0].blocked).toMatchObject({
    msgId: expect.stringMatching(/^[0-9A-F]{32}$/),
    queueOffset: 0,
    key: 'p',
    attempts: expect.any(Number),
    lastError: 'no route',
  })
  expect(described.queues[0].blocked.attempts).toBeGreaterThan(1)
  expect(Date.parse(described.queues[0].blocked.nextTryAt)).toBeGreaterThan(0)
  expect(described.queues.slice(1).map(({ blocked }: { blocked: unknown }) => blocked)).toEqual([
    null,
    null,
    null,
  ])
  expect(consumer.stderr).toMatch(/holds its queue for ever: retries are unlimited/)
})
