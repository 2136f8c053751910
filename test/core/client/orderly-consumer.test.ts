import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import type { ConsumerEvent } from '../../../src/core/client/consumer-events.ts'
import type { OrderlyConsumerOptions } from '../../../src/core/client/consumer-options.ts'
import type { MessageListener } from '../../../src/core/client/listener.ts'
import { OrderlyConsumer } from '../../../src/core/client/orderly-consumer.ts'
import { Producer } from '../../../src/core/client/producer.ts'
import { openBroker } from '../../../src/core/open-broker.ts'

let folder: string
let broker: Broker
let producer: Producer
let others: Broker[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rmq-consumer-'))
  broker = await openBroker({ db: join(folder, 'a.db') })
  producer = new Producer(broker)
  others = []
})

afterEach(async () => {
  for (const other of others) await other.close()
  await broker.close()
  await rm(folder, { recursive: true, force: true })
})

async function anotherBroker(): Promise<Broker> {
  const other = await openBroker({ db: join(folder, 'a.db') })
  others.push(other)
  return other
}

const text = (body: Uint8Array) => Buffer.from(body).toString()

async function send(bodies: readonly string[], key = 'k'): Promise<void> {
  await producer.sendBatch(bodies.map((body) => ({ topic: 'T', key, body })))
}

/** Consumes to the end and tells what the handler saw, and what the consumer said. */
async function consume(options: Partial<OrderlyConsumerOptions> = {}, listener?: MessageListener) {
  const seen: string[] = []
  const events: ConsumerEvent[] = []
  const consumer = new OrderlyConsumer(broker, {
    group: 'g',
    topics: ['T'],
    exitAtEnd: true,
    suspendMs: 10,
    onEvent: (event) => events.push(event),
    ...options,
  })
  const summary = await consumer.start((messages, context) => {
    seen.push(...messages.map(({ body }) => text(body)))
    return listener?.(messages, context)
  })
  return { seen, events, summary }
}

describe('OrderlyConsumer', () => {
  it('delivers a key in order, commits, and goes on where it stopped', async () => {
    await send(['1', '2', '3'])
    expect((await consume()).seen).toEqual(['1', '2', '3'])
    await send(['4', '5'])
    expect((await consume()).seen).toEqual(['4', '5'])
    expect((await consume()).seen).toEqual([])
    expect((await broker.progress('g')).reduce((sum, { lag }) => sum + lag, 0)).toBe(0)
  })

  it('tries a failing head again in place, before what follows', async () => {
    await send(['A', 'B', 'C'])
    let runs = 0
    const { seen, summary } = await consume({}, (messages) =>
      messages.some(({ body }) => text(body) === 'A') && ++runs <= 2 ? 'retry' : 'success',
    )
    expect(seen).toEqual(['A', 'A', 'A', 'B', 'C'])
    expect(summary).toMatchObject({ consumed: 3, failed: 2, deadLettered: 0 })
  })

  it('counts a handler that throws as failed, with its words', async () => {
    await send(['A'])
    const { events } = await consume({ maxReconsumeTimes: 0 }, () => {
      throw new Error('no such customer')
    })
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'dead-lettered', error: 'no such customer' }),
    )
  })

  it.each([0, 1, 3])('runs a message of maxReconsumeTimes %i that often and once more', async (max) => {
    await send(['bad', 'good'])
    const { seen } = await consume({ maxReconsumeTimes: max }, (messages) =>
      messages.every(({ body }) => text(body) === 'good') ? 'success' : { status: 'retry', error: 'bad' },
    )
    expect(seen).toEqual([...Array<string>(max + 1).fill('bad'), 'good'])
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    expect(deadLetters).toHaveLength(1)
    expect(deadLetters[0]).toMatchObject({ attempts: max + 1, lastError: 'bad', state: 'dead', replays: 0 })
    expect(deadLetters[0]?.message).toMatchObject({ topic: 'T', key: 'k', queueOffset: 0 })
  })

  it('dead-letters at once what the handler rejects', async () => {
    await send(['bad', 'good'])
    const { seen } = await consume({}, (messages) =>
      messages.some(({ body }) => text(body) === 'bad')
        ? { status: 'dead-letter', error: 'schema' }
        : 'success',
    )
    expect(seen).toEqual(['bad', 'good'])
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    expect(deadLetters.map(({ attempts, lastError }) => [attempts, lastError])).toEqual([[1, 'schema']])
  })

  it('blocks the queue when attempts ran out and onExhausted says so; others flow', async () => {
    await send(['bad', 'behind'], 'a')
    await send(['other'], 'b')
    const stop = new AbortController()
    const seen: string[] = []
    const consumer = new OrderlyConsumer(broker, {
      group: 'g',
      topics: ['T'],
      maxReconsumeTimes: 1,
      onExhausted: 'block',
      suspendMs: 10,
      onEvent: ({ kind }) => kind === 'blocked' && setTimeout(() => stop.abort(), 100),
    })
    await consumer.start(
      (messages) => {
        seen.push(...messages.map(({ body }) => text(body)))
        return seen.at(-1) === 'bad' ? 'retry' : 'success'
      },
      { signal: stop.signal },
    )
    expect(seen.filter((body) => body === 'bad')).toHaveLength(2)
    expect(seen).toContain('other')
    expect(seen).not.toContain('behind')
    const blocked = (await broker.progress('g')).flatMap(({ blocked: head }) => head ?? [])
    expect(blocked).toMatchObject([{ key: 'a', attempts: 2, nextTryAt: null }])
  })

  it('keeps attempts across owners: a new consumer does not count from one', async () => {
    await send(['bad'])
    await consume(
      { count: 1, maxReconsumeTimes: 5, exitAtEnd: false, idleTimeoutMs: 5000 },
      (_, { attempt }) => (attempt >= 3 ? { status: 'dead-letter' } : 'retry'),
    )
    await send(['bad2'])
    const first = new AbortController()
    const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['T'], suspendMs: 5000 })
    await consumer.start(
      () => {
        setTimeout(() => first.abort(), 50)
        return 'retry'
      },
      { signal: first.signal },
    )
    const attempts: number[] = []
    await consume({}, (messages, context) => {
      attempts.push(context.attempt, messages[0]?.reconsumeTimes ?? -1)
      return 'success'
    })
    expect(attempts).toEqual([2, 1])
  })

  it('brings a replayed dead letter back in front of newer messages of its queue, as it was', async () => {
    await producer.send({
      topic: 'T',
      key: 'k',
      tags: 'tag',
      keys: ['x 1', 'y'],
      properties: { trace: 'ü', empty: '' },
      body: Buffer.from([0, 255, 1]),
    })
    await send(['2'])
    const isFirst = (offset: number | undefined) => offset === 0
    await consume({ maxReconsumeTimes: 0 }, ([message]) =>
      isFirst(message?.queueOffset) ? 'retry' : 'success',
    )
    await send(['3', '4'])
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    const [dead] = deadLetters
    if (!dead) throw new Error('nothing was dead-lettered')
    expect(await broker.deadLetters.replay(dead, {})).toMatchObject({ status: 'replayed', queueOffset: 0 })
    expect(await broker.deadLetters.replay(dead, {})).toMatchObject({ status: 'skipped' })
    const order: unknown[] = []
    await consume({}, ([message]) => {
      order.push(message?.queueOffset)
      if (isFirst(message?.queueOffset)) {
        expect(message).toMatchObject({
          msgId: dead.message.msgId,
          key: 'k',
          tags: 'tag',
          keys: ['x 1', 'y'],
          properties: { trace: 'ü', empty: '' },
          reconsumeTimes: 0,
        })
        expect([...(message?.body ?? [])]).toEqual([0, 255, 1])
      }
    })
    expect(order).toEqual([0, 2, 3])
  })

  it('takes a replayed message that fails again back into its own entry, attempts counted anew', async () => {
    await send(['bad'])
    for (const round of [1, 2, 3]) {
      const { seen } = await consume({ maxReconsumeTimes: 1 }, () => ({
        status: 'retry',
        error: `round ${round}`,
      }))
      expect(seen).toEqual(['bad', 'bad'])
      const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
      expect(deadLetters).toMatchObject([
        { attempts: 2, replays: round - 1, lastError: `round ${round}`, state: 'dead' },
      ])
      if (deadLetters[0]) await broker.deadLetters.replay(deadLetters[0], {})
    }
  })

  it('hands batches out as ascending runs that begin at the committed offset', async () => {
    await send(Array.from({ length: 20 }, (_, i) => String(i + 1)))
    const batches: number[][] = []
    let failures = 0
    await consume({ batch: 5 }, (messages) => {
      batches.push(messages.map(({ body }) => Number(text(body))))
      return batches.length > 1 && failures++ < 2 ? 'retry' : 'success'
    })
    const run = (from: number) => [0, 1, 2, 3, 4].map((i) => from + i)
    expect(batches).toEqual([run(1), run(6), run(6), run(6), run(11), run(16)])
  })

  it('ends after exactly the count, over several queues', async () => {
    for (const key of ['a', 'b', 'c', 'd']) await send(['1', '2', '3'], key)
    expect((await consume({ count: 5, exitAtEnd: false })).seen).toHaveLength(5)
    expect((await consume()).seen).toHaveLength(7)
  })

  it('leaves what comes behind the end that it saw at its start', async () => {
    await send(['1', '2'])
    const { seen } = await consume({}, async () => {
      await send(['later'])
    })
    expect(seen).toEqual(['1', '2'])
  })

  it('passes over filtered messages: they are no lag', async () => {
    await producer.sendBatch(
      ['A', 'B', 'A', 'B', 'B'].map((tags, i) => ({ topic: 'T', key: 'k', tags, body: `${tags}${i}` })),
    )
    expect((await consume({ tags: 'A' })).seen).toEqual(['A0', 'A2'])
    expect((await broker.progress('g')).map(({ lag }) => lag).every((lag) => lag === 0)).toBe(true)
  })

  it('loses nothing behind its end when a filter made the pull look further', async () => {
    const tagged = (tags: string, n: number) =>
      Array.from({ length: n }, (_, i) => ({ topic: 'T', key: 'k', tags, body: `${tags}${i}` }))
    await producer.sendBatch(tagged('A', 3))
    const { seen } = await consume({ tags: 'A' }, async ([message]) => {
      if (text(message?.body ?? Buffer.alloc(0)) === 'A0')
        await producer.sendBatch([...tagged('B', 2), ...tagged('A', 2)])
    })
    expect(seen).toEqual(['A0', 'A1', 'A2'])
    expect((await consume({ tags: 'A' })).seen).toEqual(['A0', 'A1'])
  })

  it('starts at the end, or at a time, only when the group is new to the topic', async () => {
    await send(['old'])
    expect((await consume({ from: 'latest' })).seen).toEqual([])
    await send(['new'])
    expect((await consume({ from: 'latest' })).seen).toEqual(['new'])
    expect((await consume({ group: 'h', from: { timestamp: 0 } })).seen).toEqual(['old', 'new'])
  })

  it('finishes the running handler when stopped, stores its offset and frees the locks', async () => {
    await send(['1', '2'])
    const stop = new AbortController()
    const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['T'] })
    const seen: string[] = []
    const summary = await consumer.start(
      async ([message]) => {
        seen.push(text(message?.body ?? Buffer.alloc(0)))
        stop.abort()
        await new Promise((resolve) => setTimeout(resolve, 100))
      },
      { signal: stop.signal },
    )
    expect(seen).toEqual(['1'])
    expect(summary).toMatchObject({ consumed: 1, failed: 0, deadLettered: 0, drained: true })
    expect(await broker.listLocks()).toEqual([])
    expect((await consume()).seen).toEqual(['2'])
  })

  it('tells a handler that outlasts the drain to end, and does not count that run', async () => {
    await send(['1'])
    const stop = new AbortController()
    const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['T'], drainTimeoutMs: 50 })
    const summary = await consumer.start(
      (_, { signal }) => {
        stop.abort()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('retry')))
      },
      { signal: stop.signal },
    )
    expect(summary).toMatchObject({ consumed: 0, drained: false })
    const attempts: number[] = []
    await consume({}, (_, { attempt }) => {
      attempts.push(attempt)
    })
    expect(attempts).toEqual([1])
  })

  it('shares the queues of a group among its members, each owned by one', async () => {
    for (const key of 'abcdefghijklmnop') await send(['1', '2', '3'], key)
    const second = await anotherBroker()
    const running = new Map<number, string>()
    const seen: string[] = []
    const listener =
      (name: string): MessageListener =>
      async ([message]) => {
        if (!message) return
        expect(running.has(message.queueId)).toBe(false)
        running.set(message.queueId, name)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running.delete(message.queueId)
        seen.push(`${message.key}${text(message.body)}`)
      }
    const options = { group: 'g', topics: ['T'], idleTimeoutMs: 500 }
    await Promise.all([
      new OrderlyConsumer(broker, options).start(listener('one')),
      new OrderlyConsumer(second, options).start(listener('two')),
    ])
    expect(seen).toHaveLength(48)
    for (const key of 'abcdefghijklmnop') {
      expect(seen.filter((one) => one.startsWith(key))).toEqual([`${key}1`, `${key}2`, `${key}3`])
    }
  })

  it('refuses a lock-free commit: a released owner cannot move the offset', async () => {
    await send(['1', '2'])
    const events: ConsumerEvent[] = []
    const stop = new AbortController()
    const consumer = new OrderlyConsumer(broker, {
      group: 'g',
      topics: ['T'],
      onEvent: (event) => events.push(event),
    })
    await consumer.start(
      async () => {
        const releases = await broker.releaseLocks({ group: 'g' }, { force: true })
        expect(releases.every(({ outcome }) => outcome === 'released')).toBe(true)
        stop.abort()
      },
      { signal: stop.signal },
    )
    expect(events).toContainEqual(expect.objectContaining({ kind: 'lock-lost', refusedCommit: true }))
    expect((await consume()).seen).toEqual(['1', '2'])
  })

  it('refuses an unknown topic, naming it', async () => {
    await send(['1'])
    const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['TT'] })
    await expect(consumer.start(() => 'success')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })

  it.each([
    [{ batch: 0 }, 'batch'],
    [{ maxReconsumeTimes: -2 }, 'maxReconsumeTimes'],
    [{ maxReconsumeTimes: 1.5 }, 'maxReconsumeTimes'],
    [{ topics: [] }, 'topics'],
    [{ group: 'a b' }, 'group'],
    [{ lockTtlMs: 1 }, 'lockTtlMs'],
  ])('refuses %j', async (change, field) => {
    const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['T'], ...change })
    await expect(consumer.start(() => 'success')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(field),
    })
  })
})
