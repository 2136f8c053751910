import { expect, it } from 'vitest'
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
