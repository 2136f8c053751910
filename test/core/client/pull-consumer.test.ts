import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OrderlyConsumer, openBroker, PullConsumer } from '../../../src/core/index.ts'
import { tempDb } from '../../helpers/temp.ts'
import { bodies, committed, consumerOf, mq, opened, send } from './pull-fixture.ts'

describe('pull', () => {
  it.each([
    ['FOUND', { offset: 1, max: 2 }, '1 2', 3],
    ['NO_NEW_MSG', { offset: 4 }, '', 4],
    ['NO_MATCHED_MSG', { offset: 0, tags: 'C' }, '', 4],
    ['FOUND', { offset: 0, tags: 'A' }, '1 3', 4],
    ['FOUND', { offset: 0, tags: 'A || B', max: 1 }, '0', 1],
    ['OFFSET_ILLEGAL', { offset: 5 }, '', 4],
    ['OFFSET_ILLEGAL', { offset: -1 }, '', 0],
  ])('answers %s to %j', async (status, options, found, nextOffset) => {
    const consumer = consumerOf(await opened([[0, 1, 2, 3]]))
    const result = await consumer.pull(mq(0), options)
    expect(result).toMatchObject({ status, nextOffset, minOffset: 0, maxOffset: 4 })
    expect(bodies(result.messages)).toBe(found)
  })

  it('asks for 32 when nothing is said', async () => {
    const consumer = consumerOf(await opened([Array.from({ length: 40 }, (_, i) => i)]))
    expect((await consumer.pull(mq(0), { offset: 0 })).messages).toHaveLength(32)
  })

  it('waits for what arrives, and ends with its signal', async () => {
    const broker = await opened([[]])
    const consumer = consumerOf(broker)
    const waiting = consumer.pull(mq(0), { offset: 0, waitMs: 20_000 })
    await send(broker, 0, [7])
    expect(bodies((await waiting).messages)).toBe('7')
    const signal = AbortSignal.timeout(20)
    const given = await consumer.pull(mq(0), { offset: 1, waitMs: 20_000, signal })
    expect(given.status).toBe('NO_NEW_MSG')
  })

  it('leaves no trace', async () => {
    const broker = await opened([[1]])
    const consumer = consumerOf(broker)
    await consumer.pull(mq(0), { offset: 0 })
    expect(await consumer.committed(mq(0))).toBeNull()
    expect(await broker.listGroups({ all: true })).toEqual([])
    expect(await broker.listLocks()).toEqual([])
  })
})

describe('an assigned queue', () => {
  it('is read in order, takes turns with others, and is committed only when that is said', async () => {
    const broker = await opened([[0, 1, 2], [10, 11], []])
    const consumer = consumerOf(broker)
    await consumer.assign(await consumer.messageQueues('T'))
    const polled: string[] = []
    for (let i = 0; i < 3; i++) polled.push(bodies(await consumer.poll({ max: 2 })))
    expect(polled).toEqual(['0 1', '10 11', '2'])
    expect(await consumer.poll({ timeoutMs: 0 })).toEqual([])
    expect(await committed(broker)).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ])
    await consumer.commit(mq(0), 1)
    await consumer.commitAll()
    expect(await committed(broker)).toEqual([
      [0, 3],
      [1, 2],
      [2, 0],
    ])
  })

  it('comes again from the committed offset when its consumer ends', async () => {
    const broker = await opened([[0, 1, 2]])
    const first = consumerOf(broker)
    await first.assign([mq(0)])
    await first.poll()
    await first.commit(mq(0), 1)
    await first.close()
    expect(await broker.listLocks()).toEqual([])
    expect(await broker.members('g')).toEqual([])
    const second = consumerOf(broker)
    await second.assign([mq(0)])
    expect(bodies(await second.poll())).toBe('1 2')
    expect(await second.committed(mq(0))).toBe(1)
  })

  it('wakes a poll when something arrives', async () => {
    const broker = await opened([[], []])
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0), mq(1)])
    const waiting = consumer.poll({ timeoutMs: 20_000 })
    await send(broker, 1, [5])
    expect(bodies(await waiting)).toBe('5')
  })

  it('passes over what a filter drops, so that it is no lag', async () => {
    const broker = await opened([[0, 1, 2, 3, 4]])
    const consumer = consumerOf(broker, { tags: 'A' })
    await consumer.assign([mq(0)])
    expect(bodies(await consumer.poll())).toBe('1 3')
    expect(await consumer.poll({ timeoutMs: 0 })).toEqual([])
    await consumer.commitAll()
    expect(await committed(broker)).toEqual([[0, 5]])
  })

  it('starts where the group is told to start, once', async () => {
    const broker = await opened([[0, 1]])
    const late = consumerOf(broker, { from: 'latest' })
    await late.assign([mq(0)])
    expect(await late.poll({ timeoutMs: 0 })).toEqual([])
    await late.close()
    await send(broker, 0, [2])
    const again = consumerOf(broker, { from: 'earliest' })
    await again.assign([mq(0)])
    expect(bodies(await again.poll())).toBe('2')
  })

  it('keeps its position while others come and go', async () => {
    const broker = await opened([[0, 1, 2], [10]])
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0)])
    expect(bodies(await consumer.poll({ max: 1 }))).toBe('0')
    await consumer.assign([mq(0), mq(1)])
    expect(consumer.position(mq(0))).toBe(1)
    await consumer.assign([mq(0)])
    expect(consumer.assignment).toEqual([mq(0)])
    expect((await broker.listLocks()).map((lock) => lock.mq.queueId)).toEqual([0])
    expect(bodies(await consumer.poll())).toBe('1 2')
  })

  it('can be paused and resumed, under its lock', async () => {
    const broker = await opened([[0], [10]])
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0), mq(1)])
    consumer.pause([mq(0)])
    expect(bodies(await consumer.poll())).toBe('10')
    const waiting = consumer.poll({ timeoutMs: 20_000 })
    await sleep(20)
    expect(await broker.listLocks()).toHaveLength(2)
    consumer.resume([mq(0)])
    expect(bodies(await waiting)).toBe('0')
  })

  it('can be sought to any offset it has, and no other', async () => {
    const broker = await opened([[0, 1, 2]])
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0)])
    await consumer.seekToEnd(mq(0))
    expect(await consumer.poll({ timeoutMs: 0 })).toEqual([])
    await consumer.seek(mq(0), 1)
    expect(bodies(await consumer.poll())).toBe('1 2')
    await consumer.seekToBegin(mq(0))
    expect(bodies(await consumer.poll({ max: 1 }))).toBe('0')
    await consumer.seek(mq(0), 3)
    for (const offset of [-1, 4, 0.5, Number.NaN]) {
      await expect(consumer.seek(mq(0), offset)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    expect(consumer.position(mq(0))).toBe(3)
  })

  it('is never committed backwards, nor past its end', async () => {
    const broker = await opened([[0, 1, 2]])
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0)])
    await consumer.commit(mq(0), 2)
    await consumer.commit(mq(0), 1)
    await consumer.seekToBegin(mq(0))
    await consumer.commitAll()
    expect(await committed(broker)).toEqual([[0, 2]])
    for (const offset of [-1, 4, 0.5]) {
      await expect(consumer.commit(mq(0), offset)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
  })

  it('does not deliver again what the group was done with beyond its committed offset', async () => {
    const broker = await opened([[0, 1, 2, 3]])
    const other = consumerOf(broker)
    await other.assign([mq(0)])
    const messages = await other.poll()
    const [lock] = await broker.listLocks()
    const fence = { group: 'g', clientId: other.clientId, mq: mq(0), epoch: lock?.epoch ?? 0 }
    const letters = messages.slice(1, 3).map((message) => ({ message, attempts: 1, lastError: null }))
    expect(await broker.deadLetter(fence, letters, null)).toBe(true)
    await other.close()
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0)])
    expect(bodies(await consumer.poll())).toBe('0 3')
    await consumer.commitAll()
    expect(await committed(broker)).toEqual([[0, 4]])
  })
})

it('a message of a parked key follows its dead letter instead of being delivered', async () => {
  const broker = await opened([[]])
  for (const [i, key] of ['sick', 'well', 'sick', 'well'].entries()) await send(broker, 0, [i], { key })
  const bury = new OrderlyConsumer(broker, { group: 'g', topics: ['T'], count: 1, onExhausted: 'park-key' })
  await bury.start(() => 'dead-letter')
  const consumer = consumerOf(broker)
  await consumer.assign([mq(0)])
  expect(bodies(await consumer.poll())).toBe('1 3')
  await consumer.commitAll()
  expect(await committed(broker)).toEqual([[0, 4]])
  const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
  expect(deadLetters.map(({ message, state }) => [bodies([message]), state])).toEqual([
    ['0', 'dead'],
    ['2', 'parked'],
  ])
})

it('what lies behind a change of the number of queues waits until the rest is committed', async () => {
  const broker = await opened([[0, 1]])
  const consumer = consumerOf(broker)
  await consumer.assign([mq(0)])
  await broker.admin.alterTopic('T', { queues: 2 })
  await send(broker, 1, [10])
  await consumer.assign([mq(0), mq(1)])
  expect(bodies(await consumer.poll())).toBe('0 1')
  expect(await consumer.poll({ timeoutMs: 50 })).toEqual([])
  const waiting = consumer.poll({ timeoutMs: 20_000 })
  await consumer.commitAll()
  expect(bodies(await waiting)).toBe('10')
})

describe('replayed messages', () => {
  it('come before live ones, once, and are done when that is committed', async () => {
    const broker = await opened([[0, 1, 2]])
    const bury = new OrderlyConsumer(broker, { group: 'g', topics: ['T'], exitAtEnd: true })
    await bury.start(([message]) => (bodies(message ? [message] : []) === '1' ? 'dead-letter' : 'success'))
    await send(broker, 0, [3])
    const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
    for (const letter of deadLetters) await broker.deadLetters.replay(letter, {})
    const consumer = consumerOf(broker)
    await consumer.assign([mq(0)])
    expect(bodies(await consumer.poll())).toBe('1')
    expect(bodies(await consumer.poll())).toBe('3')
    expect(await consumer.poll({ timeoutMs: 0 })).toEqual([])
    await consumer.close()
    const again = consumerOf(broker)
    await again.assign([mq(0)])
    expect([bodies(await again.poll()), bodies(await again.poll())]).toEqual(['1', '3'])
    await again.commitAll()
    expect((await broker.progress('g', 'T')).map(({ lag }) => lag)).toEqual([0])
    expect(
      (await broker.deadLetters.list('g', { states: ['replayed'] }, { limit: 10 })).deadLetters,
    ).toMatchObject([{ settledAt: expect.any(Number) }])
  })
})

describe('bad calls', () => {
  it.each([
    ['an unknown topic', [{ topic: 'U', brokerName: 'embedded', queueId: 0 }], 'TOPIC_NOT_FOUND'],
    ['an unknown queue', [mq(1)], 'QUEUE_NOT_FOUND'],
  ])('%s cannot be assigned', async (_, mqs, code) => {
    const broker = await opened([[0]])
    await expect(consumerOf(broker).assign(mqs)).rejects.toMatchObject({ code })
    expect(await broker.listGroups({ all: true })).toEqual([])
  })

  it('a filter that nobody understands never joins', async () => {
    const broker = await opened([[0]])
    await expect(consumerOf(broker, { tags: 'A|B' }).assign([mq(0)])).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await broker.listGroups({ all: true })).toEqual([])
    expect(() => new PullConsumer(broker, { group: 'g', tags: 'A', sql: 'a = 1' })).toThrow('exclude')
    expect(() => new PullConsumer(broker, { group: '' })).toThrow('group')
  })

  it('a poll without queues, and one of nothing, are refused', async () => {
    const consumer = consumerOf(await opened([[0]]))
    await expect(consumer.poll()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await consumer.assign([mq(0)])
    for (const max of [0, 1.5]) {
      await expect(consumer.poll({ max })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    expect(() => consumer.position(mq(3))).toThrow('not assigned')
    await consumer.close()
    await expect(consumer.poll()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('a poll that waits ends when its consumer is closed', async () => {
    const consumer = consumerOf(await opened([[]]))
    await consumer.assign([mq(0)])
    const waiting = consumer.poll({ timeoutMs: 20_000 })
    await sleep(20)
    await consumer.close()
    expect(await waiting).toEqual([])
  })

  it('the same client id twice is refused while the first one lives', async () => {
    const db = tempDb()
    const first = consumerOf(await opened([[0]], db), { clientId: 'me' })
    await first.assign([mq(0)])
    const other = await openBroker({ db })
    onTestFinished(() => other.close())
    await expect(consumerOf(other, { clientId: 'me' }).assign([mq(0)])).rejects.toMatchObject({
      code: 'CLIENT_ID_IN_USE',
    })
  })
})
