import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../src/core/broker.ts'
import type { DeadLetter, DeadLetterFilter } from '../../../src/core/model/dead-letter.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const queue = mq('orders', 0)
let cluster: Cluster
let a: Engine
let fence: Fence

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  fence = await a.own('g', 'a', queue)
})

afterEach(() => cluster.close())

async function all(filter: DeadLetterFilter = {}, limit = 100): Promise<readonly DeadLetter[]> {
  return (await a.consumption.deadLetters.list('g', filter, { limit })).deadLetters
}

const offsets = async (filter: DeadLetterFilter) =>
  (await all(filter)).map(({ message }) => message.queueOffset)

describe('deadLetter', () => {
  it('keeps the whole original, and moves the offset past it', async () => {
    const body = Buffer.from([0, 255, 10, 0])
    const properties = { trace: 'é', empty: '' }
    await a.send('orders', 0, { body, key: 'k', keys: ['k1', 'k2'], tags: 'T', properties })
    const original = a.message('orders', 0, 0)
    cluster.machine.pass(10)
    await a.consumption.attempts.fail(fence, [
      { offset: 0, replay: 0, attempts: 1, lastError: 'x', nextTryAt: null },
    ])
    cluster.machine.pass(10)
    expect(await a.deadLetter(fence, 0, 'boom', 4)).toBe(true)
    expect(await all()).toEqual([
      {
        id: expect.any(Number),
        group: 'g',
        message: { ...original, reconsumeTimes: 3 },
        attempts: 4,
        lastError: 'boom',
        firstFailedAt: cluster.machine.now - 10,
        deadLetteredAt: cluster.machine.now,
        state: 'dead',
        replays: 0,
        replayedAt: null,
        settledAt: null,
        resetAt: null,
      },
    ])
    expect(await a.consumption.committedOffsets('g', 'orders')).toEqual([{ mq: queue, offset: 1, ahead: [] }])
    expect(a.consumption.storedAttempts('g', a.queueRow('orders', 0), 0, 9).size).toBe(0)
  })

  it('keeps an empty body, and a message without anything', async () => {
    await a.send('orders', 0, { body: '' })
    const original = a.message('orders', 0, 0)
    await a.deadLetter(fence, 0, null)
    expect(await all()).toMatchObject([{ lastError: null, message: original }])
  })

  it('keeps what the consumer holds where retention took the stored one', async () => {
    await a.send('orders', 0, { body: 'x', key: 'k', keys: ['k1'], properties: { p: 'v' } })
    const message = a.message('orders', 0, 0)
    a.store.db.exec(
      `delete from message_${a.queueRow('orders', 0)}; update queue set min_offset = 1 where queue_id = 0`,
    )
    await a.consumption.deadLetter(fence, [{ message, attempts: 1, lastError: null }], 1)
    expect(await all()).toMatchObject([{ message }])
  })

  it('changes nothing under a stale fence', async () => {
    await a.send('orders', 0, { body: 'x' })
    expect(await a.deadLetter({ ...fence, epoch: 9 }, 0)).toBe(false)
    expect(await all()).toEqual([])
    expect(await a.consumption.committedOffsets('g', 'orders')).toEqual([])
  })

  it('has one entry for a message that a reset brought round again', async () => {
    await a.send('orders', 0, { body: 'x' })
    await a.deadLetter(fence, 0, 'first')
    await a.deadLetter(fence, 0, 'second', 2)
    expect(await all()).toMatchObject([{ lastError: 'second', attempts: 2, state: 'dead' }])
  })
})

describe('list', () => {
  beforeEach(async () => {
    await a.send(
      'orders',
      0,
      { body: '0', key: 'red', tags: 'A' },
      { body: '1', key: 'blue', tags: 'B' },
      { body: '2', key: '*' },
      { body: '3', tags: 'A' },
    )
    for (const [offset, error] of [
      [0, 'timeout: db'],
      [1, 'Timeout'],
      [2, null],
      [3, 'refused'],
    ] as const) {
      cluster.machine.pass(1000)
      await a.deadLetter(fence, offset, error)
    }
  })

  it('filters by everything a filter can say', async () => {
    const { now } = cluster.machine
    expect(await offsets({})).toEqual([0, 1, 2, 3])
    expect(await offsets({ key: 'red' })).toEqual([0])
    expect(await offsets({ key: '*' })).toEqual([2])
    expect(await offsets({ notKey: 'red' })).toEqual([1, 2, 3])
    expect(await offsets({ tags: 'A || C' })).toEqual([0, 3])
    expect(await offsets({ tags: '*' })).toEqual([0, 1, 2, 3])
    expect(await offsets({ since: now - 2000, until: now })).toEqual([1, 2])
    expect(await offsets({ errorMatch: '^timeout' })).toEqual([0])
    expect(await offsets({ errorMatch: '[tT]imeout', tags: 'B' })).toEqual([1])
    expect(await offsets({ topic: 'bills' })).toEqual([])
    expect(await offsets({ states: ['replayed'] })).toEqual([])
    expect(await offsets({ msgIds: [a.message('orders', 0, 3).msgId, 'none'] })).toEqual([3])
  })

  it.each([{}, { errorMatch: '' }, { errorMatch: 'o|u' }])(
    'pages through all of %o, full pages first',
    async (filter) => {
      const { deadLetters } = a.consumption
      const seen: number[] = []
      const sizes: number[] = []
      let after: string | undefined
      do {
        const page = await deadLetters.list('g', filter, { limit: 2, ...(after !== undefined && { after }) })
        seen.push(...page.deadLetters.map(({ message }) => message.queueOffset))
        sizes.push(page.deadLetters.length)
        after = page.next ?? undefined
      } while (after !== undefined)
      const expected = await offsets(filter)
      expect(seen).toEqual(expected)
      expect(sizes).toEqual(expected.length === 4 ? [2, 2] : [2, 1])
    },
  )

  it('pages by topic, queue and offset', async () => {
    await a.topics.create({ topic: 'bills', queues: 2 })
    const places = [mq('orders', 1), mq('bills', 1), mq('bills', 0)]
    for (const place of places) {
      await a.send(place.topic, place.queueId, { body: 'x' })
      await a.deadLetter(await a.own('g', 'a', place), 0)
    }
    const places6 = (await all()).map(({ message: { topic, queueId, queueOffset } }) => [
      topic,
      queueId,
      queueOffset,
    ])
    expect(places6).toEqual([
      ['bills', 0, 0],
      ['bills', 1, 0],
      ['orders', 0, 0],
      ['orders', 0, 1],
      ['orders', 0, 2],
      ['orders', 0, 3],
      ['orders', 1, 0],
    ])
  })

  it('counts as it lists', async () => {
    const { deadLetters } = a.consumption
    await a.join('h', 'a')
    expect(await deadLetters.count('g', { errorMatch: 'imeout' })).toEqual(new Map([['g', 2]]))
    expect(await deadLetters.count('h', {})).toEqual(new Map([['h', 0]]))
    expect(await deadLetters.count(undefined, {})).toEqual(new Map([['g', 4]]))
  })

  it('refuses what it cannot read', async () => {
    const { deadLetters } = a.consumption
    await expect(all({ errorMatch: '(' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(deadLetters.count('g', { errorMatch: '(' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(deadLetters.list('g', {}, { limit: 1, after: 'nonsense' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(deadLetters.list('none', {}, { limit: 1 })).rejects.toMatchObject({
      code: 'GROUP_NOT_FOUND',
    })
    await expect(deadLetters.count('none', {})).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  })
})
