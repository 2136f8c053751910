import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openBroker, Producer } from '../../src/core/index.ts'
import { PATIENCE, startConsumer } from '../helpers/consumer.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const bodies = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`)
const messages = (count: number) => bodies(count).map((body) => ({ body, key: 'k', queueId: 0 }))

it('a reset under a slow member: its late commit is refused, and the queue goes on at the new offset', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, messages(6))
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  // The third message is at work until the test lets it go; everything after the reset is quick.
  const work = `[ "$body" != "m2" ] || while [ ! -e '${log.folder}/go' ]; do sleep 0.02; done`
  const member = startConsumer(db, 't', '--client-id', 'slow', '--exec', log.command(work))
  await expect.poll(() => log.bodies(), PATIENCE).toEqual(['m0', 'm1', 'm2'])
  await expect.poll(async () => (await broker.committedOffsets('g', 't'))[0]?.offset, PATIENCE).toBe(2)
  const [before] = await broker.listLocks({ group: 'g' })

  const refused = await run(['offsets', 'reset', '-g', 'g', '--to', 'earliest', '-y'])
  expect([refused.status, refused.stderr]).toEqual([4, expect.stringMatching(/1 member lives: slow/)])
  const forced = await run(['offsets', 'reset', '-g', 'g', '--to', '1', '--force', '-y', '--json'])
  expect(JSON.parse(forced.stdout)).toEqual({
    reset: [{ topic: 't', queueId: 0, old: 2, new: 1, replayed: 1, skipped: 0 }],
    dryRun: false,
  })

  writeFileSync(`${log.folder}/go`, '')
  await expect.poll(async () => (await broker.committedOffsets('g', 't'))[0]?.offset, PATIENCE).toBe(6)
  member.signal('SIGTERM')
  expect(await member.ended).toEqual([0, null])
  // The run of m2 under the old lock counts for nothing: after it the queue went on at 1, each message once.
  expect(log.bodies()).toEqual(['m0', 'm1', 'm2', 'm1', 'm2', 'm3', 'm4', 'm5'])
  expect(log.overlaps()).toEqual([])
  expect(member.stderr).toMatch(/lock/)
  expect((await broker.listLocks({ group: 'g' })).map(({ epoch }) => epoch)).not.toContain(before?.epoch)
  const audit = await run(['verify'])
  expect([audit.status, audit.stdout]).toEqual([0, expect.any(String)])
})

it('a reset under an idle member makes it read again, long before its next renewal', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, messages(3))
  await using broker = await openBroker({ db })
  const log = new HandlerLog()
  const member = startConsumer(db, 't', '--exec', log.command())
  await expect.poll(async () => (await broker.committedOffsets('g', 't'))[0]?.offset, PATIENCE).toBe(3)
  expect((await run(['offsets', 'reset', '-g', 'g', '--to', 'earliest', '--force', '-y'])).status).toBe(0)
  // Renewals come every 20 s: whoever waited for one would take longer than a field user's patience of 5 s.
  await expect.poll(() => log.bodies(), { timeout: 5000, interval: 20 }).toEqual([...bodies(3), ...bodies(3)])
  member.signal('SIGTERM')
  expect(await member.ended).toEqual([0, null])
})

it('a reset lasts, though every process is killed right after it', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, messages(5))
  const log = new HandlerLog()
  const member = startConsumer(db, 't', '--exec', log.command())
  await expect.poll(() => log.bodies().length, PATIENCE).toBe(5)
  expect((await run(['offsets', 'reset', '-g', 'g', '--to', '0', '--force', '-y'])).status).toBe(0)
  member.signal('SIGKILL')
  await member.ended
  const before = log.bodies().length
  const again = startConsumer(db, 't', '-e', '--exec', log.command())
  expect(await again.ended).toEqual([0, null])
  const delivered = log.bodies().slice(before)
  // The killed one may have begun to read again: what it had committed does not come a third time.
  expect(delivered).toEqual(bodies(5).slice(5 - delivered.length))
  const total = log.bodies()
  for (const body of bodies(5)) expect(total.filter((one) => one === body).length).toBeGreaterThanOrEqual(2)
})

it('offsets do not outlive their topic', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, messages(50))
  await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
  await using broker = await openBroker({ db })
  await broker.admin.deleteTopic('t')
  await broker.createTopic({ topic: 't', queues: 1 })
  await new Producer(broker).sendBatch(
    bodies(5).map((body) => ({ topic: 't', body })),
    { queueId: 0 },
  )
  const lag = async () => (await broker.progress('g', 't')).map((queue) => queue.lag)
  expect(await lag()).toEqual([5])
  const consumed = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
  expect(consumed.stdout).toBe(
    bodies(5)
      .map((body) => `${body}\n`)
      .join(''),
  )
  expect(await lag()).toEqual([0])
})
