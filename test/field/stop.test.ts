import { expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer } from '../helpers/consumer.ts'
import { json } from '../helpers/dead-letters.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ key: 'k', body: `m${i}` }))

it('what was fetched and not begun when a consumer stops is there for the next one at once, uncharged', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, numbered(30))
  const log = new HandlerLog()
  const first = startConsumer(db, 't', '--exec', log.command('sleep 0.1', 'first'))
  await expect.poll(() => log.starts().length, PATIENCE).toBeGreaterThanOrEqual(3)
  first.signal('SIGTERM')
  expect(await first.ended).toEqual([0, null])
  const done = log.starts().length
  expect(log.notes()).toHaveLength(2 * done)
  expect(done).toBeLessThan(30)
  const rest = ['consume', 't', '-g', 'g', '--orderly', '-e', '--exec', log.command(':', 'second')]
  expect((await run(rest)).status).toBe(0)
  expect(log.starts().map(({ who, body, attempt }) => `${who} ${body} ${attempt}`)).toEqual(
    numbered(30).map(({ body }, i) => `${i < done ? 'first' : 'second'} ${body} 1`),
  )
})

it('a program that fails is a failure, without any flag that says so', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, numbered(1))
  await using broker = await openBroker({ db })
  const consumer = startConsumer(db, 't', '-e', '--max-reconsume', '1', '--exec', 'exit 1')
  const looks: (readonly [number, number])[] = []
  while (consumer.child.exitCode === null) {
    const [queue] = await broker.progress('g').catch(() => [])
    const dead = (await broker.deadLetters.count('g', {}).catch(() => new Map())).get('g') ?? 0
    looks.push([queue?.committedOffset ?? 0, dead])
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  // Seen before the end, and then never committed without a dead letter.
  expect(looks).toContainEqual([0, 0])
  expect(looks).not.toContainEqual([1, 0])
  expect(await consumer.ended).toEqual([0, null])
  expect(consumer.stderr).toMatch(/consumed 0, dead-lettered 1, failed runs 2 in /)
  const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
  expect(deadLetters).toMatchObject([{ attempts: 2, lastError: 'exit 1' }])
  const { offsets } = await json(run(['offsets', 'list', '-g', 'g', '--json']))
  expect(offsets).toMatchObject([{ committedOffset: 1, lag: 0 }])
  expect((await run(['verify'])).status).toBe(0)
})
