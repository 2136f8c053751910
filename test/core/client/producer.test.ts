import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import { Producer, type SendOptions } from '../../../src/core/client/producer.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'
import { openBroker } from '../../../src/core/open-broker.ts'

let folder: string
let broker: Broker
let producer: Producer

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rmq-producer-'))
  broker = await openBroker({ db: join(folder, 'a.db') })
  producer = new Producer(broker)
})

afterEach(async () => {
  await broker.close()
  await rm(folder, { recursive: true, force: true })
})

const keyed = (key: string) => ({ topic: 'T', key, body: key })

describe('Producer', () => {
  it('sends all messages of a key to the queue that Java would choose, in order', async () => {
    const results = await producer.sendBatch(['order-1001', 'order-1002', 'order-1001'].map(keyed))
    // |hash| % 8 of a JVM: 7 and 0.
    expect([0, 1, 2].map((i) => results.result(i))).toMatchObject([
      { sendStatus: 'SEND_OK', queueId: 7, queueOffset: 0 },
      { queueId: 0, queueOffset: 0 },
      { queueId: 7, queueOffset: 1 },
    ])
    expect(new Set([0, 1, 2].map((i) => results.result(i).msgId)).size).toBe(3)
    expect(await producer.send(keyed('order-1001'))).toMatchObject({ queueId: 7, queueOffset: 2 })
  })

  it('spreads messages without a key over all queues, one after the other', async () => {
    const ids: number[] = []
    for (let i = 0; i < 16; i++) ids.push((await producer.send({ topic: 'T', body: 'x' })).queueId)
    const [first = 0] = ids
    expect(ids).toEqual(ids.map((_, i) => (first + i) % 8))
  })

  it.each([
    ['17', 1],
    ['-3', 5],
    ['9223372036854775809', 1],
  ])('takes an integer key modulo the queues: %s', async (key, queueId) => {
    expect(await producer.send(keyed(key), { selector: 'mod' })).toMatchObject({ queueId })
  })

  it('picks any queue at random, and no other', async () => {
    await broker.createTopic({ topic: 'T', queues: 2 })
    const ids = new Set<number>()
    for (let i = 0; i < 64; i++) ids.add((await producer.send(keyed('k'), { selector: 'random' })).queueId)
    expect([...ids].sort()).toEqual([0, 1])
  })

  it("lets a user's function choose, with its argument", async () => {
    const selector = (queues: readonly MessageQueue[], _: unknown, arg: unknown) =>
      queues[Number(arg) % queues.length]
    expect(await producer.send(keyed('k'), { selector, arg: 11 })).toMatchObject({ queueId: 3 })
  })

  it.each([
    ['nothing', () => undefined],
    ['a queue of its own making', () => ({ topic: 'T', brokerName: 'embedded', queueId: 0 })],
  ])('refuses a selector that returns %s, and stores nothing', async (_, selector) => {
    await expect(producer.send(keyed('k'), { selector })).rejects.toMatchObject({ code: 'SELECTOR_FAILED' })
    expect((await broker.queueStats('T')).every(({ maxOffset }) => maxOffset === 0)).toBe(true)
  })

  it('tells what a selector threw, and keeps it as the cause', async () => {
    const mine = new TypeError('mine')
    const selector = () => {
      throw mine
    }
    await expect(producer.send(keyed('k'), { selector })).rejects.toMatchObject({
      code: 'SELECTOR_FAILED',
      message: expect.stringContaining('mine'),
      cause: mine,
    })
  })

  it.each([null, 'hsah', 7])('refuses %j in the place of a selector', async (selector) => {
    const options = { selector } as unknown as SendOptions
    await expect(producer.send(keyed('k'), options)).rejects.toMatchObject({ code: 'SELECTOR_FAILED' })
  })

  it.each([
    [{ selector: 'hash' as const }, { topic: 'T', body: 'x' }, 'SELECTOR_FAILED'],
    [{ selector: 'mod' as const }, keyed('no number'), 'SELECTOR_FAILED'],
    [{ queueId: 8 }, keyed('k'), 'QUEUE_NOT_FOUND'],
    [{ queueId: -1 }, keyed('k'), 'QUEUE_NOT_FOUND'],
  ])('refuses %j of %j: %s', async (options, message, code) => {
    await broker.createTopic({ topic: 'T' })
    await expect(producer.send(message, options)).rejects.toMatchObject({ code })
  })

  it('sends a batch whole or not at all, and says which message is to blame', async () => {
    await broker.createTopic({ topic: 'T' })
    const messages = ['a', 'b', 'c', 'd'].map(keyed)
    messages[2] = { topic: 'T', key: 'c\u0001', body: 'c' }
    await expect(producer.sendBatch(messages)).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringMatching(/^message 3: /),
      details: { index: 2 },
    })
    expect((await broker.queueStats('T')).every(({ maxOffset }) => maxOffset === 0)).toBe(true)
  })

  it('creates a topic on its first message, once, and says so', async () => {
    const created: string[] = []
    const other = new Producer(broker, { onTopicCreated: ({ topic }) => created.push(topic) })
    await Promise.all([other.send(keyed('a')), other.send(keyed('b')), producer.send(keyed('c'))])
    expect(created.length).toBeLessThanOrEqual(1)
    expect(await broker.listTopics()).toMatchObject([{ topic: 'T', queues: 8 }])
  })

  it('leaves no topic behind for a message that cannot be stored', async () => {
    await expect(
      producer.send({ topic: 'T', body: 'x', properties: { UNIQ_KEY: 'v' } }),
    ).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    })
    expect(await broker.listTopics()).toEqual([])
  })

  it('creates none when told so, and finds one that is made later', async () => {
    const strict = new Producer(broker, { createTopics: false })
    await expect(strict.send(keyed('k'))).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await broker.createTopic({ topic: 'T' })
    expect(await strict.send(keyed('k'))).toMatchObject({ sendStatus: 'SEND_OK' })
  })

  it('takes the limit of the topic, in bytes', async () => {
    await broker.createTopic({ topic: 'T', maxBody: 6 })
    await producer.send({ topic: 'T', body: '汉汉' })
    await expect(producer.send({ topic: 'T', body: '汉汉!' })).rejects.toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      details: { bytes: 7, maxBytes: 6 },
    })
  })
})
