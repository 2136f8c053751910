import { expect, it } from 'vitest'
import { type Broker, type MessageExt, replayDeadLetters } from '../../src/core/index.ts'
import {
  bodyOf,
  deadBodies,
  numbers,
  PATIENCE,
  sendAll,
  startConcurrent,
  startOrderly,
  untilIdle,
} from './clients.ts'
import { conformance } from './world.ts'

/** Key `k` of queue 0, whose messages are dead or parked: its handler fails until it is repaired. */
async function parked(
  broker: Broker,
  count: number,
  options: { perKey: number; maxReconsumeTimes?: number; suspendMs?: number },
) {
  await broker.createTopic({ topic: 'T', queues: 1 })
  await sendAll(broker, 'T', numbers(count))
  let isBroken = (_message: MessageExt) => true
  const consumer = startOrderly(broker, {
    topic: 'T',
    onExhausted: 'park-key',
    maxReconsumeTimes: 0,
    suspendMs: 10,
    ...options,
    listener: ([message]) => (message && isBroken(message) ? 'retry' : 'success'),
  })
  await untilIdle(broker)
  await expect.poll(() => states(broker), PATIENCE).toHaveLength(count)
  const seenBefore = consumer.seen.length
  return {
    seen: () => consumer.seen.slice(seenBefore),
    breaksOn: (which: (message: MessageExt) => boolean) => {
      isBroken = which
    },
  }
}

async function states(broker: Broker): Promise<string[]> {
  const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10_000 })
  return deadLetters.map(({ message, state }) => `${bodyOf(message)} ${state}`)
}

const replayAll = (broker: Broker, ratePerSecond?: number) =>
  replayDeadLetters(broker, { group: 'g', filter: {}, all: true, ...(ratePerSecond && { ratePerSecond }) })

conformance('the replay of a parked key', (world) => {
  it.each([1, 4])('is delivered as it goes on, in order, perKey %i', async (perKey) => {
    const broker = await world().connect()
    if (!broker.parkedKeys) return
    const key = await parked(broker, 20, { perKey })
    key.breaksOn(() => false)
    // Slow enough for the consumer to see each of them while the others are still parked.
    expect(await replayAll(broker, 100)).toMatchObject({ replayed: 20, skipped: 0 })
    await expect.poll(() => key.seen(), PATIENCE).toEqual(numbers(20))
    expect(await deadBodies(broker)).toEqual([])
  })

  it.each([1, 4])('goes back as a whole when its first message dies again, perKey %i', async (perKey) => {
    const broker = await world().connect()
    if (!broker.parkedKeys) return
    const key = await parked(broker, 6, { perKey })
    key.breaksOn((message) => bodyOf(message) === '1')
    await replayAll(broker)
    await expect
      .poll(() => states(broker), PATIENCE)
      .toEqual(['1 dead', '2 parked', '3 parked', '4 parked', '5 parked'])
    expect(key.seen()).toEqual(['0', '1'])
    key.breaksOn(() => false)
    await replayAll(broker)
    await expect.poll(() => key.seen(), PATIENCE).toEqual(['0', '1', '1', '2', '3', '4', '5'])
    await untilIdle(broker)
    expect(await states(broker)).toEqual([])
  })

  it('leaves out a message that another one of its key has to come before', async () => {
    const broker = await world().connect()
    if (!broker.parkedKeys) return
    const key = await parked(broker, 3, { perKey: 1 })
    key.breaksOn(() => false)
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    const [first, second] = deadLetters.map(({ message }) => message.msgId)
    const replay = (msgId: string | undefined) =>
      replayDeadLetters(broker, { group: 'g', filter: { msgIds: [msgId ?? ''] } })
    expect(await replay(second)).toMatchObject({ replayed: 0, skipped: 1 })
    expect(await replay(first)).toMatchObject({ replayed: 1 })
    await expect.poll(() => key.seen(), PATIENCE).toEqual(['0'])
    expect(await replay(second)).toMatchObject({ replayed: 1 })
    await expect.poll(() => key.seen(), PATIENCE).toEqual(['0', '1'])
    expect(await states(broker)).toEqual(['2 parked'])
  })

  it('does not cut short the pause of a message that fails', async () => {
    const broker = await world().connect()
    if (!broker.parkedKeys) return
    const key = await parked(broker, 30, { perKey: 4, maxReconsumeTimes: 1, suspendMs: 300 })
    const tries: number[] = []
    key.breaksOn((message) => bodyOf(message) === '0' && tries.push(performance.now()) === 1)
    // The others come into the lane while it pauses.
    await replayAll(broker, 100)
    await expect.poll(() => key.seen(), PATIENCE).toEqual(['0', ...numbers(30)])
    expect((tries[1] ?? 0) - (tries[0] ?? 0)).toBeGreaterThanOrEqual(299)
  })
})

conformance('the replay of more messages than are read at once', (world) => {
  const COUNT = 700

  it.each([1, 4])('comes to its end, before what is newer, perKey %i', async (perKey) => {
    const broker = await world().connect()
    if (!broker.redelivery) return
    const key = await parked(broker, COUNT, { perKey })
    key.breaksOn(() => false)
    await replayAll(broker)
    await sendAll(broker, 'T', ['newer'])
    await expect.poll(() => key.seen(), PATIENCE).toEqual([...numbers(COUNT), 'newer'])
  })

  it('and does not keep other keys from flowing when the first of them fails', async () => {
    const broker = await world().connect()
    if (!broker.redelivery) return
    const key = await parked(broker, COUNT, { perKey: 4, maxReconsumeTimes: 3 })
    key.breaksOn(({ key }) => key === 'k')
    await replayDeadLetters(broker, { group: 'g', filter: {}, all: true })
    await sendAll(broker, 'T', ['other'], () => 'another key')
    await expect.poll(() => key.seen(), PATIENCE).toContain('other')
  })

  it('comes to its end in a concurrent group', async () => {
    const broker = await world().connect()
    if (!broker.redelivery) return
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(COUNT))
    let isBroken = true
    const consumer = startConcurrent(broker, {
      topic: 'T',
      listener: () => (isBroken ? 'dead-letter' : 'success'),
    })
    await untilIdle(broker)
    isBroken = false
    await replayAll(broker)
    await untilIdle(broker)
    await consumer.stop()
    expect([...new Set(consumer.seen.slice(COUNT))].map(Number).sort((a, b) => a - b)).toEqual(
      numbers(COUNT).map(Number),
    )
    expect(consumer.seen).toHaveLength(2 * COUNT)
  })
})
