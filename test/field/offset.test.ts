import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, startConsumer } from '../helpers/consumer.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { joinGroup } from '../helpers/member.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const RESTARTS = 10
const COUNT = 200

it('every start begins at the committed offset, however the last one ended and whoever held the lock', async () => {
  const { db, run } = shop()
  await seed(
    db,
    't',
    1,
    Array.from({ length: COUNT }, (_, i) => ({ key: 'k', body: `m${i}` })),
  )
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  const committed = async () => (await broker.progress('g').catch(() => []))[0]?.committedOffset ?? 0
  let firsts = 0
  for (let restart = 0; restart < RESTARTS; restart++) {
    const isHeld = restart % 3 === 2
    if (isHeld) {
      const [grant] = await joinGroup(broker, { group: 'g', clientId: '0', topic: 't' })
      expect(grant?.granted).toBe(true)
    }
    const from = await committed()
    const who = `run${restart}`
    const consumer = startConsumer(db, 't', '--client-id', who, '--exec', log.command(':', who))
    if (isHeld) {
      await expect.poll(async () => (await broker.members('g')).length, PATIENCE).toBe(2)
      await sleep(200)
      expect(log.starts(who)).toEqual([])
      await broker.unlockBatch('g', '0', await broker.subscribeQueues('t'))
      await broker.unregister('g', '0')
    }
    await expect.poll(() => log.starts(who).length, PATIENCE).toBeGreaterThan(2)
    consumer.signal(restart % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
    await consumer.ended
    const offsets = log.starts(who).map(({ offset }) => offset)
    expect(offsets).toEqual(offsets.map((_, i) => from + i))
    if (from > 0) firsts++
  }
  expect(firsts).toBe(RESTARTS - 1)
  expect(log.overlaps()).toEqual([])
  expect((await run(['verify'])).status).toBe(0)
})
