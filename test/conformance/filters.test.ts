import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Broker } from '../../src/core/index.ts'
import { PATIENCE, startConcurrent, startOrderly, untilIdle } from './clients.ts'
import { conformance } from './world.ts'

/** Messages 0, 1, 2 … of one queue; even ones have tag A, odd ones tag B; `n` is the number. */
async function sendNumbered(
  broker: Broker,
  from: number,
  to: number,
  tagOf = (i: number) => 'AB'.charAt(i % 2),
) {
  const [mq] = await broker.publishQueues('T')
  if (!mq) throw new Error('T has no queue')
  const messages = Array.from({ length: to - from }, (_, i) => ({
    topic: 'T',
    body: String(from + i),
    key: 'k',
    tags: tagOf(from + i),
    properties: { n: String(from + i) },
  }))
  await broker.send([{ mq, messages }])
}

const evens = (to: number) => Array.from({ length: to / 2 }, (_, i) => String(2 * i))

conformance('a filter', (world) => {
  it.each([
    ['tags', { tags: 'A' }],
    ['SQL92', { sql: "TAGS = 'A' AND n >= 0" }],
  ])('by %s hands on what matches, in order, and the rest is no lag', async (_, filter) => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendNumbered(broker, 0, 100)
    const consumer = startOrderly(broker, { topic: 'T', ...filter })
    await expect.poll(() => consumer.seen.length, PATIENCE).toBe(50)
    // The queue ends with messages that nobody wants.
    await sendNumbered(broker, 100, 110, () => 'B')
    await untilIdle(broker)
    expect(consumer.seen).toEqual(evens(100))
    await expect.poll(async () => (await broker.committedOffsets('g', 'T'))[0]?.offset, PATIENCE).toBe(110)
  })

  it('by SQL92 holds for the concurrent service too', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendNumbered(broker, 0, 100)
    const consumer = startConcurrent(broker, { topic: 'T', sql: "n BETWEEN 10 AND 29 AND TAGS <> 'B'" })
    await untilIdle(broker)
    expect(consumer.seen.toSorted()).toEqual(evens(30).slice(5).toSorted())
  })

  it('by SQL92 is not asked again when a failed message returns from the retry topic', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendNumbered(broker, 0, 2)
    const consumer = startConcurrent(broker, {
      topic: 'T',
      // Only in the retry topic a message has this property.
      sql: "RETRY_TOPIC IS NULL AND TAGS = 'A'",
      listener: ([message]) =>
        message?.reconsumeTimes === 0 ? { status: 'retry', error: 'not yet', suspendMs: 20 } : 'success',
    })
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['0', '0'])
    await untilIdle(broker)
  })

  it('that is malformed is refused before the first message', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendNumbered(broker, 0, 10)
    for (const filter of [{ sql: 'n > ' }, { sql: "n > 'x'" }, { tags: '||' }, { tags: ' ' }]) {
      const consumer = startOrderly(broker, { topic: 'T', ...filter })
      await expect(consumer.stop()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
      expect(consumer.seen).toEqual([])
    }
    expect(await broker.members('g')).toEqual([])
  })

  it('that drops all that arrives costs a pull for each arrival at most', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendNumbered(broker, 0, 1)
    const pulls = countPulls(broker)
    const consumer = startOrderly(broker, { topic: 'T', sql: 'n < 0' })
    await untilIdle(broker)
    const before = pulls()
    for (let i = 1; i <= 5; i++) {
      await sendNumbered(broker, i, i + 1)
      await pause(60)
    }
    await untilIdle(broker)
    // One that ends with the arrival, and one that is held after it.
    expect(pulls() - before).toBeGreaterThan(0)
    expect(pulls() - before).toBeLessThanOrEqual(11)
    expect(consumer.seen).toEqual([])
  })
})

/** How often `pull` was called from now on. */
function countPulls(broker: Broker): () => number {
  let count = 0
  const pull = broker.pull.bind(broker)
  broker.pull = (request) => {
    count++
    return pull(request)
  }
  return () => count
}
