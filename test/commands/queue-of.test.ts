import { expect, it } from 'vitest'
import { Producer } from '../../src/core/index.ts'
import { rmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

it("follows Java's hashCode, also where it is the smallest integer", async () => {
  const db = tempDb()
  await seed(db, 'orders', 7, [])
  // "polygenelubricants".hashCode() is -2^31; its remainder by 7 is -2.
  const { stdout } = await rmq(['queue-of', 'orders', 'a', 'polygenelubricants', '', '--json'], { db })
  expect(JSON.parse(stdout)).toEqual({
    queues: [
      { key: 'a', queueId: 97 % 7, hash: 97 },
      { key: 'polygenelubricants', queueId: 2, hash: -2_147_483_648 },
      { key: '', queueId: 0, hash: 0 },
    ],
  })
})

it('names the queue that send takes', async () => {
  const db = tempDb()
  const keys = ['order-17', 'ключ', '鍵', 'a b\tc', '😀']
  await seed(
    db,
    'orders',
    5,
    keys.map((key) => ({ key, body: key })),
  )
  const { queues } = JSON.parse((await rmq(['queue-of', 'orders', ...keys, '--json'], { db })).stdout)
  await withBroker(db, async (broker) => {
    for (const { key, queueId } of queues) {
      const page = await broker.pull({
        mq: { topic: 'orders', brokerName: 'embedded', queueId },
        offset: 0,
        maxMessages: 32,
        waitMs: 0,
      })
      expect(page.messages.map((message) => message.key)).toContain(key)
    }
  })
})

// Computed by a JVM: FNV-1a over UTF-8, unsigned; Guava's consistentHash of String.hashCode.
it.each([
  ['fnv1a', { key: 'order-17', queueId: 6, hash: 3559933102 }, { key: 'ключ', queueId: 1, hash: 2512710113 }],
  ['jump', { key: 'order-17', queueId: 3, hash: 1234255109 }, { key: 'ключ', queueId: 5, hash: 33309882 }],
])('answers by another rule with --as %s', async (rule, ...expected) => {
  const db = tempDb()
  await seed(db, 'orders', 8, [])
  const keys = expected.map(({ key }) => key)
  const { stdout } = await rmq(['queue-of', 'orders', ...keys, '--as', rule, '--json'], { db })
  expect(JSON.parse(stdout)).toEqual({ queues: expected })
})

it.each(['fnv1a', 'jump'] as const)("goes by the topic's own rule, as send does: %s", async (hash) => {
  const db = tempDb()
  const keys = Array.from({ length: 20 }, (_, i) => `order-${i}`)
  const places = await withBroker(db, async (broker) => {
    await broker.createTopic({ topic: 'orders', queues: 5, hash })
    const producer = new Producer(broker)
    const sent: number[] = []
    for (const key of keys) sent.push((await producer.send({ topic: 'orders', key, body: key })).queueId)
    return sent
  })
  const { queues } = JSON.parse((await rmq(['queue-of', 'orders', ...keys, '--json'], { db })).stdout)
  expect(queues.map(({ queueId }: { queueId: number }) => queueId)).toEqual(places)
  const byJava = await rmq(['queue-of', 'orders', ...keys, '--as', 'java', '--json'], { db })
  expect(JSON.parse(byJava.stdout).queues).not.toEqual(queues)
})

it('takes keys that look like flags behind a --', async () => {
  const db = tempDb()
  await seed(db, 'orders', 4, [])
  const { status, stdout } = await rmq(['queue-of', 'orders', '--', '--json', '-h'], { db })
  expect(status).toBe(0)
  expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['--json', '-h', ''])
})

it.each([
  [['queue-of', 'nope', 'a'], 3],
  [['queue-of', 'orders'], 2],
  [['queue-of', 'orders', 'a', '--as', 'md5'], 2],
])('%j ends with %d', async (args, status) => {
  const db = tempDb()
  await seed(db, 'orders', 4, [])
  expect((await rmq(args, { db })).status).toBe(status)
})
