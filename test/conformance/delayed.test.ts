import { expect, it } from 'vitest'
import { type Broker, Producer } from '../../src/core/index.ts'
import { PATIENCE, sendAll, startConcurrent, startOrderly } from './clients.ts'
import { conformance } from './world.ts'

conformance('a delayed message', (world) => {
  async function oneQueue(): Promise<Broker> {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    return broker
  }

  it('comes behind what its key sent meanwhile, and not before it is due', async () => {
    const [broker, sender] = [await oneQueue(), await world().connect()]
    const consumer = startOrderly(broker, { topic: 'T' })
    const before = Date.now()
    const { msgId } = await new Producer(sender).send({ topic: 'T', key: 'k', body: 'late', delayLevel: 1 })
    await sendAll(sender, 'T', ['a', 'b'])
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['a', 'b', 'late'])
    const late = consumer.deliveries[2]?.message
    expect(late).toMatchObject({
      msgId,
      topic: 'T',
      key: 'k',
      keys: ['k'],
      properties: {},
      reconsumeTimes: 0,
    })
    expect(late?.storeTimestamp).toBeGreaterThanOrEqual(before + 1000)
    expect(late?.bornTimestamp).toBeLessThan(before + 1000)
  })

  it('comes at the time that it names, in the order of those times', async () => {
    const broker = await oneQueue()
    const consumer = startConcurrent(broker, { topic: 'T', threads: 1 })
    const producer = new Producer(broker)
    const start = Date.now()
    const after = (seconds: number) => ({ topic: 'T', body: `${seconds}`, deliverAt: start + seconds * 1000 })
    for (const seconds of [3, 1, 2]) await producer.send(after(seconds))
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['1', '2', '3'])
    for (const { message } of consumer.deliveries) {
      expect(message.storeTimestamp).toBeGreaterThanOrEqual(start + Number(Buffer.from(message.body)) * 1000)
    }
  })

  it('whose time has passed comes at once', async () => {
    const broker = await oneQueue()
    const consumer = startOrderly(broker, { topic: 'T' })
    await new Producer(broker).send({ topic: 'T', body: 'x', deliverAt: Date.now() - 60_000 })
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['x'])
  })

  it('that fails is tried again, and dead-lettered in the end, as any other', async () => {
    const broker = await oneQueue()
    const consumer = startOrderly(broker, {
      topic: 'T',
      maxReconsumeTimes: 1,
      suspendMs: 10,
      listener: () => 'retry',
    })
    const { msgId } = await new Producer(broker).send({ topic: 'T', key: 'k', body: 'x', delayLevel: 1 })
    await expect.poll(() => consumer.events.map(({ kind }) => kind), PATIENCE).toContain('dead-lettered')
    expect(consumer.seen).toEqual(['x', 'x'])
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    expect(deadLetters).toMatchObject([{ attempts: 2, message: { msgId, key: 'k' } }])
  })

  it('of a delay that nobody can mean is refused, and nothing is stored', async () => {
    const broker = await oneQueue()
    const producer = new Producer(broker)
    const wrong = [
      { delayLevel: 0 },
      { delayMs: -1 },
      { deliverAt: Number.NaN },
      { delayLevel: 1, delayMs: 1 },
    ]
    for (const delay of wrong) {
      const sending = producer.sendBatch([
        { topic: 'T', body: 'good' },
        { topic: 'T', body: 'bad', ...delay },
      ])
      await expect(sending).rejects.toMatchObject({ code: 'INVALID_MESSAGE', details: { index: 1 } })
    }
    expect(await broker.queueStats('T')).toMatchObject([{ maxOffset: 0 }])
  })
})
