import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { retryDelayMs } from '../../src/core/model/delay.ts'
import { bodyOf, deadBodies, numbers, PATIENCE, sendAll, startConcurrent, untilIdle } from './clients.ts'
import { conformance } from './world.ts'

conformance('the concurrent service', (world) => {
  it('gives every message to one handler and commits it', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', numbers(500), (_, i) => `k${i % 50}`)
    const consumer = startConcurrent(broker, { topic: 'T' })
    await expect.poll(() => consumer.seen.length, PATIENCE).toBe(500)
    await untilIdle(broker)
    expect(new Set(consumer.seen).size).toBe(500)
    expect(await consumer.stop()).toMatchObject({ consumed: 500, failed: 0, drained: true })
  })

  it('runs up to `threads` handlers at once, and no more', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', numbers(60), () => undefined)
    let running = 0
    let most = 0
    const consumer = startConcurrent(broker, {
      topic: 'T',
      threads: 7,
      listener: async () => {
        running++
        most = Math.max(most, running)
        await pause(5)
        running--
      },
    })
    await expect.poll(() => consumer.seen.length, PATIENCE).toBe(60)
    expect(most).toBe(7)
  })

  it('lets a slow message hold only the committed offset, not the others', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(30))
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = startConcurrent(broker, {
      topic: 'T',
      listener: ([message]) => (message && bodyOf(message) === '3' ? held : undefined),
    })
    await expect.poll(() => consumer.seen.length, PATIENCE).toBe(30)
    const committed = async () => (await broker.committedOffsets('g', 'T'))[0]?.offset
    await expect.poll(committed, PATIENCE).toBe(3)
    release()
    await expect.poll(committed, PATIENCE).toBe(30)
  })

  it('brings a failed message again through the retry topic, with its id, topic and count', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['bad', 'good'], () => 'k')
    const consumer = startConcurrent(broker, {
      topic: 'T',
      listener: ([message]) =>
        message && bodyOf(message) === 'bad' && message.reconsumeTimes < 3
          ? { status: 'retry', error: 'not yet', suspendMs: 20 }
          : 'success',
    })
    await untilIdle(broker)
    await expect.poll(() => consumer.seen.filter((body) => body === 'bad').length, PATIENCE).toBe(4)
    await untilIdle(broker)
    const bad = consumer.deliveries.filter(({ message }) => bodyOf(message) === 'bad')
    expect(bad.map(({ message }) => message.reconsumeTimes)).toEqual([0, 1, 2, 3])
    expect(new Set(bad.map(({ message }) => message.msgId)).size).toBe(1)
    expect(new Set(bad.map(({ message }) => message.topic))).toEqual(new Set(['T']))
    expect(bad.map(({ message }) => message.key)).toEqual(['k', 'k', 'k', 'k'])
    expect(await consumer.stop()).toMatchObject({ consumed: 2, failed: 3, sentBack: 3, deadLettered: 0 })
  })

  it('dead-letters a message after its further tries, with where it came from', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 4 })
    await sendAll(broker, 'T', ['bad'], () => 'order-1001')
    const consumer = startConcurrent(broker, {
      topic: 'T',
      maxReconsumeTimes: 2,
      listener: () => ({ status: 'retry', error: 'never', suspendMs: 10 }),
    })
    await expect.poll(() => deadBodies(broker), PATIENCE).toEqual(['bad'])
    expect(consumer.seen).toHaveLength(3)
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    // "order-1001" belongs to queue 3 of 4 (the vectors of SelectMessageQueueByHash).
    expect(deadLetters[0]).toMatchObject({ attempts: 3, lastError: 'never', state: 'dead' })
    expect(deadLetters[0]?.message).toMatchObject({
      topic: 'T',
      queueId: 3,
      queueOffset: 0,
      key: 'order-1001',
    })
    await untilIdle(broker)
  })

  it('takes the messages behind ackIndex of a batch for failed', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(4))
    let isFirst = true
    const consumer = startConcurrent(broker, {
      topic: 'T',
      batch: 4,
      suspendMs: 10,
      listener: () => {
        if (!isFirst) return 'success'
        isFirst = false
        return { status: 'success', ackIndex: 1 }
      },
    })
    await expect.poll(() => [...consumer.seen].sort(), PATIENCE).toEqual(['0', '1', '2', '2', '3', '3'])
    await untilIdle(broker)
  })

  it('sends back what runs longer than the consume timeout, and takes its late answer for nothing', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['slow'])
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const consumer = startConcurrent(broker, { topic: 'T', consumeTimeoutMs: 100, listener: () => held })
    const timedOut = () => consumer.events.filter(({ kind }) => kind === 'timed-out').length
    await expect.poll(timedOut, PATIENCE).toBe(1)
    const scheduled = async () => (await broker.progress('g')).reduce((sum, one) => sum + one.scheduled, 0)
    expect(await scheduled()).toBe(1)
    expect((await broker.progress('g', 'T')).reduce((sum, { lag }) => sum + lag, 0)).toBe(0)
    release()
    expect(await consumer.stop()).toMatchObject({ consumed: 0, sentBack: 1 })
    expect(await scheduled()).toBe(1)
  })

  it('shares the queues among its members, and takes over those of one that left', async () => {
    const [one, two] = [await world().connect(), await world().connect()]
    await sendAll(one, 'T', [], () => undefined)
    await one.createTopic({ topic: 'T', queues: 4 })
    const first = startConcurrent(one, { topic: 'T' })
    const second = startConcurrent(two, { topic: 'T' })
    await expect.poll(async () => (await one.memberIds('g', 'T')).length, PATIENCE).toBe(2)
    await expect
      .poll(async () => {
        await sendAll(one, 'T', numbers(40), () => undefined)
        return first.seen.length > 0 && second.seen.length > 0
      }, PATIENCE)
      .toBe(true)
    await first.stop()
    await untilIdle(one)
  })

  it('refuses an orderly member in its group', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    const consumer = startConcurrent(broker, { topic: 'T' })
    await expect.poll(async () => (await broker.memberIds('g', 'T')).length, PATIENCE).toBe(1)
    const { startOrderly } = await import('./clients.ts')
    const other = startOrderly(await world().connect(), { topic: 'T' })
    await expect(other.stop()).rejects.toMatchObject({ code: 'GROUP_CONFLICT' })
    await consumer.stop()
  })
})

describe('the retry schedule', () => {
  it('is that of the delay levels 3 to 18, and stays at the last', () => {
    const seconds = [0, 1, 2, 15, 40].map((times) => retryDelayMs(times) / 1000)
    expect(seconds).toEqual([10, 30, 60, 7200, 7200])
  })
})
