import { expect, it } from 'vitest'
import { openBroker, Producer } from '../../src/core/index.ts'
import { PATIENCE, startConsumer, untilMembers, untilOwner } from '../helpers/consumer.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

it('an owner that slept with nothing in work wakes without its queue: it prints no message of its heir', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, [])
  await using broker = await openBroker({ db })
  const producer = new Producer(broker)
  const send = (body: string) => producer.send({ topic: 't', key: 'k', body })
  const committed = async () => (await broker.progress('g'))[0]?.committedOffset
  const start = (id: string) =>
    startConsumer(db, 't', '--client-id', id, '--lock-ttl', '2s', '-f', '%s %r\\n')
  const owner = start('a')
  await untilOwner(broker, 'a')
  const heir = start('b')
  await untilMembers(broker, ['a', 'b'])
  await send('m0')
  await owner.prints('m0 0\n')
  await expect.poll(committed, PATIENCE).toBe(1)
  const before = (await broker.listLocks({ group: 'g' }))[0]
  owner.signal('SIGSTOP')
  await send('m1')
  await heir.prints('m1 0\n')
  await untilOwner(broker, 'b')
  expect((await broker.listLocks({ group: 'g' }))[0]?.epoch).toBeGreaterThan(before?.epoch ?? 0)
  await expect.poll(committed, PATIENCE).toBe(2)
  owner.signal('SIGCONT')
  // It sorts first, so the queue comes back to it, behind what its heir has done.
  await untilOwner(broker, 'a')
  await send('m2')
  await owner.prints('m2 0\n')
  expect([owner.stdout, heir.stdout]).toEqual(['m0 0\nm2 0\n', 'm1 0\n'])
  expect(JSON.parse((await run(['verify', '--json'])).stdout).violations).toEqual([])
})
