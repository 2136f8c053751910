import { expect, it } from 'vitest'
import type { ConsumeStatus, MessageListener } from '../../../../src/core/client/listener.ts'
import { ConcurrentConsumer, OrderlyConsumer } from '../../../../src/core/index.ts'
import { AuditedStore, mq } from './store.ts'

const MESSAGES = 120

async function traced(): Promise<AuditedStore> {
  const store = await AuditedStore.open()
  await store.broker.createTopic({ topic: 'orders', queues: 2 })
  for (const queueId of [0, 1]) {
    const messages = Array.from({ length: MESSAGES }, (_, i) => ({
      topic: 'orders',
      body: `${i}`,
      key: `k${i % 7}`,
    }))
    await store.broker.send([{ mq: mq('orders', queueId), messages }])
  }
  return store
}

/** Answers what `answer` says the first time that it sees a message, and success ever after. */
function once(answer: (offset: number) => ConsumeStatus): MessageListener {
  const seen = new Set<string>()
  return async ([message]) => {
    if (message === undefined || seen.has(message.msgId)) return 'success'
    seen.add(message.msgId)
    await new Promise((resolve) => setImmediate(resolve))
    return answer(message.queueOffset)
  }
}

const every = (n: number, status: ConsumeStatus, other: ConsumeStatus = 'success') =>
  once((offset) => (offset % n === 0 ? status : other))
const common = { group: 'g', topics: ['orders'], trace: true, exitAtEnd: true, suspendMs: 10 }

it.each<[string, (store: AuditedStore) => Promise<unknown>]>([
  ['in order', ({ broker }) => new OrderlyConsumer(broker, common).start(every(5, 'retry'))],
  [
    'in batches',
    ({ broker }) => new OrderlyConsumer(broker, { ...common, batch: 8 }).start(every(5, 'retry')),
  ],
  [
    'by keys, some of them dead',
    ({ broker }) => new OrderlyConsumer(broker, { ...common, perKey: 4 }).start(every(9, 'dead-letter')),
  ],
  [
    'by keys, some of them parked',
    ({ broker }) =>
      new OrderlyConsumer(broker, { ...common, perKey: 4, onExhausted: 'park-key' }).start(
        every(50, 'dead-letter'),
      ),
  ],
  [
    'with commits and rollbacks by hand',
    ({ broker }) =>
      new OrderlyConsumer(broker, { ...common, autoCommit: false }).start(every(11, 'rollback', 'commit')),
  ],
  [
    'in no order, with retries',
    ({ broker }) =>
      new ConcurrentConsumer(broker, { ...common, threads: 8, batch: 3 }).start(every(7, 'retry')),
  ],
])('the journal of a group that consumes %s shows nothing wrong', async (_how, consume) => {
  const store = await traced()
  await consume(store)
  const { violations, checked } = await store.audit()
  expect(violations).toEqual([])
  // At least one of each message; what is parked has no start.
  expect(checked.deliveries).toBeGreaterThanOrEqual(2 * MESSAGES)
})
