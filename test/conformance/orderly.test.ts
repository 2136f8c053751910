import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { replayDeadLetters } from '../../src/core/index.ts'
import { bodyOf, deadBodies, numbers, PATIENCE, sendAll, startOrderly, untilIdle } from './clients.ts'
import { conformance } from './world.ts'

conformance('the orderly service', (world) => {
  it('delivers the messages of a key in the order in which they were sent', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', numbers(300), (_, i) => `k${i % 10}`)
    const consumer = startOrderly(broker, { topic: 'T' })
    await untilIdle(broker)
    for (let k = 0; k < 10; k++) {
      const ofKey = consumer.deliveries.filter(({ message }) => message.key === `k${k}`)
      expect(ofKey.map(({ message }) => bodyOf(message))).toEqual(
        numbers(300).filter((n) => Number(n) % 10 === k),
      )
    }
  })

  it('holds the queue of a message that fails, and goes on behind it', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['a', 'b'])
    let runs = 0
    const consumer = startOrderly(broker, {
      topic: 'T',
      suspendMs: 10,
      listener: () => (++runs < 3 ? 'retry' : 'success'),
    })
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['a', 'a', 'a', 'b'])
  })

  it('commits with manual commit when the handler says so, and rolls back to there', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(6))
    let hasRolledBack = false
    const consumer = startOrderly(broker, {
      topic: 'T',
      autoCommit: false,
      suspendMs: 10,
      listener: ([message]) => {
        const body = message ? bodyOf(message) : ''
        if (body === '1') return 'commit'
        if (body === '4' && !hasRolledBack) {
          hasRolledBack = true
          return 'rollback'
        }
        return 'success'
      },
    })
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['0', '1', '2', '3', '4', '2', '3', '4', '5'])
    await consumer.stop()
    expect((await broker.committedOffsets('g', 'T'))[0]?.offset).toBe(2)
    const next = startOrderly(broker, { topic: 'T', autoCommit: false })
    await expect.poll(() => next.seen, PATIENCE).toEqual(['2', '3', '4', '5'])
  })

  it('starts at the end for a group that asked for that, once', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['old'])
    const first = startOrderly(broker, { topic: 'T', from: 'latest' })
    await expect.poll(async () => (await broker.listLocks({ group: 'g' })).length, PATIENCE).toBe(8)
    await first.stop()
    await sendAll(broker, 'T', ['new'])
    const second = startOrderly(broker, { topic: 'T', from: 'latest' })
    await expect.poll(() => second.seen, PATIENCE).toEqual(['new'])
  })
})

conformance('several keys of a queue at once', (world) => {
  it('runs up to `perKey` keys beside each other, each in order', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(200), (_, i) => `k${i % 20}`)
    const running = new Set<string>()
    let most = 0
    const consumer = startOrderly(broker, {
      topic: 'T',
      perKey: 8,
      listener: async ([message]) => {
        const key = message?.key ?? ''
        expect(running.has(key)).toBe(false)
        running.add(key)
        most = Math.max(most, running.size)
        await pause(2)
        running.delete(key)
      },
    })
    await untilIdle(broker)
    expect(most).toBe(8)
    for (let k = 0; k < 20; k++) {
      const ofKey = consumer.deliveries.filter(({ message }) => message.key === `k${k}`)
      expect(ofKey.map(({ message }) => Number(bodyOf(message)))).toEqual(
        Array.from({ length: 10 }, (_, i) => i * 20 + k),
      )
    }
    expect((await broker.committedOffsets('g', 'T'))[0]?.offset).toBe(200)
  })

  it('lets a key that fails hold itself only, and commits no further than its first message', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(100), (_, i) => `k${i % 10}`)
    const consumer = startOrderly(broker, {
      topic: 'T',
      perKey: 4,
      suspendMs: 20,
      suspendMaxMs: 20,
      listener: ([message]) => (message?.key === 'k3' ? 'retry' : 'success'),
    })
    await expect.poll(() => consumer.seen.filter((n) => Number(n) % 10 !== 3).length, PATIENCE).toBe(90)
    expect(new Set(consumer.seen.filter((n) => Number(n) % 10 === 3))).toEqual(new Set(['3']))
    await consumer.stop()
    const [done] = await broker.committedOffsets('g', 'T')
    expect(done?.offset).toBe(3)
    // What the others have done is not done again by the next owner.
    const next = startOrderly(broker, { topic: 'T', perKey: 4 })
    await untilIdle(broker)
    if (broker.capabilities.fencing) {
      expect(next.seen).toEqual(numbers(100).filter((n) => Number(n) % 10 === 3))
    }
  })

  it('dead-letters out of order without losing or doubling anything', async () => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 1 })
    await sendAll(broker, 'T', numbers(60), (_, i) => `k${i % 6}`)
    const consumer = startOrderly(broker, {
      topic: 'T',
      perKey: 6,
      maxReconsumeTimes: 1,
      suspendMs: 10,
      listener: ([message]) => (message && Number(bodyOf(message)) % 7 === 0 ? 'retry' : 'success'),
    })
    await untilIdle(broker)
    const bad = numbers(60).filter((n) => Number(n) % 7 === 0)
    expect(await deadBodies(broker)).toEqual(bad)
    expect(await consumer.stop()).toMatchObject({ consumed: 60 - bad.length, deadLettered: bad.length })
  })
})

conformance('parked keys', (world) => {
  const park = async (perKey: number) => {
    const broker = await world().connect()
    await broker.createTopic({ topic: 'T', queues: 2 })
    await sendAll(broker, 'T', numbers(100), (_, i) => `k${i % 10}`)
    let isBroken = true
    const options = {
      topic: 'T',
      perKey,
      onExhausted: 'park-key' as const,
      maxReconsumeTimes: 0,
      listener: ([message]: readonly { key: string | null }[]) =>
        message?.key === 'k3' && isBroken ? ('retry' as const) : ('success' as const),
    }
    const consumer = startOrderly(broker, options)
    const repair = () => {
      isBroken = false
    }
    return { broker, consumer, options, repair }
  }
  const ofKey3 = numbers(100).filter((n) => Number(n) % 10 === 3)

  it.each([1, 4])('follow the dead one in order while the others flow, perKey %i', async (perKey) => {
    const { broker, consumer } = await park(perKey)
    if (!broker.parkedKeys) return
    await untilIdle(broker)
    expect(consumer.seen.filter((n) => Number(n) % 10 === 3)).toEqual(['3'])
    expect(consumer.seen).toHaveLength(91)
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 100 })
    expect(deadLetters.map(({ message, state }) => [bodyOf(message), state])).toEqual(
      ofKey3.map((n) => [n, n === '3' ? 'dead' : 'parked']),
    )
  })

  it.each([1, 4])('come back in order, before newer ones of the key, perKey %i', async (perKey) => {
    const { broker, consumer, repair } = await park(perKey)
    if (!broker.parkedKeys) return
    await untilIdle(broker)
    await sendAll(broker, 'T', ['newer'], () => 'k3')
    await untilIdle(broker)
    expect(await deadBodies(broker)).toEqual([...ofKey3, 'newer'])
    repair()
    await replayDeadLetters(broker, { group: 'g', filter: {}, all: true })
    await sendAll(broker, 'T', ['newest'], () => 'k3')
    await untilIdle(broker)
    await expect
      .poll(
        () =>
          consumer.deliveries
            .filter(({ message }) => message.key === 'k3')
            .map(({ message }) => bodyOf(message))
            .slice(1),
        PATIENCE,
      )
      .toEqual([...ofKey3, 'newer', 'newest'])
    expect(await deadBodies(broker)).toEqual([])
  })

  it('stay parked for the next owner', async () => {
    const { broker, consumer, options } = await park(1)
    if (!broker.parkedKeys) return
    await untilIdle(broker)
    await consumer.stop()
    await sendAll(broker, 'T', ['later'], () => 'k3')
    const next = startOrderly(await world().connect(), options)
    await untilIdle(broker)
    expect(next.seen).toEqual([])
    expect(await deadBodies(broker)).toContain('later')
  })
})
