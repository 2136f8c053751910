import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type ConsumerEvent,
  ModuleHandler,
  OrderlyConsumer,
  openBroker,
  Producer,
} from '../../../src/core/index.ts'
import { startConsumer, untilMembers, untilOwner } from '../../helpers/consumer.ts'
import { tempDb, tempFolder } from '../../helpers/temp.ts'

const LOCK_TTL_MS = 1_000

test('a module that keeps its thread for longer than the life of a lock does not lose the lock', async () => {
  const db = tempDb()
  await using broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
  const file = join(tempFolder(), 'busy.mjs')
  const work = `const end = Date.now() + (message.text() === 'long' ? ${4 * LOCK_TTL_MS} : 0); while (Date.now() < end);`
  writeFileSync(file, `export default (message) => { ${work} }`)

  const events: ConsumerEvent[] = []
  const owner = new OrderlyConsumer(broker, {
    group: 'g',
    topics: ['t'],
    clientId: 'a',
    lockTtlMs: LOCK_TTL_MS,
    count: 2,
    onEvent: (event) => events.push(event),
  })
  const ended = owner.start(new ModuleHandler({ file }))
  await untilOwner(broker, 'a')
  // Another process, which nothing here keeps from taking a lock that has run out. By name it comes second: the queue
  // stays with the first.
  const standby = startConsumer(db, 't', '--client-id', 'b', '--lock-ttl', `${LOCK_TTL_MS}ms`)
  await untilMembers(broker, ['a', 'b'])
  const producer = new Producer(broker)
  await producer.send({ topic: 't', key: 'k', body: 'long' })
  await producer.send({ topic: 't', key: 'k', body: 'short' })

  expect(await ended).toMatchObject({ consumed: 2, failed: 0 })
  expect(standby.stdout).toBe('')
  expect(events.filter(({ kind }) => kind === 'lock-lost')).toEqual([])
})
