import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, PullRequest } from '../../../src/core/broker.ts'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb } from '../../helpers/temp.ts'

const mq = { topic: 'orders', brokerName: 'embedded', queueId: 0 }

let db: string
let broker: Broker
beforeEach(async () => {
  db = tempDb()
  broker = await openBroker({ db, durability: 'normal' })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 'orders', queues: 1 })
})

const send = (...tags: (string | undefined)[]) =>
  broker.send([
    {
      mq,
      messages: tags.map((tag) => ({
        topic: 'orders',
        body: 'x',
        ...(tag === undefined ? {} : { tags: tag }),
      })),
    },
  ])
const pull = (offset: number, more: Partial<PullRequest> = {}) =>
  broker.pull({ mq, offset, maxMessages: 100, waitMs: 0, ...more })
const tagged = (expression: string) => ({
  subscription: { topic: 'orders', expressionType: 'TAG' as const, expression },
})
const offsets = async (request: Promise<{ messages: readonly { queueOffset: number }[] }>) =>
  (await request).messages.map(({ queueOffset }) => queueOffset)

describe('statuses', () => {
  it('of an empty queue', async () => {
    expect(await pull(0)).toEqual({
      status: 'NO_NEW_MSG',
      messages: [],
      nextOffset: 0,
      minOffset: 0,
      maxOffset: 0,
    })
    expect(await pull(5)).toMatchObject({ status: 'OFFSET_ILLEGAL', nextOffset: 0 })
  })

  it('within, at and beyond the end', async () => {
    await send('a', 'b', 'c')
    expect(await pull(1)).toMatchObject({ status: 'FOUND', nextOffset: 3, minOffset: 0, maxOffset: 3 })
    expect(await offsets(pull(1))).toEqual([1, 2])
    expect(await pull(0, { maxMessages: 2 })).toMatchObject({ status: 'FOUND', nextOffset: 2 })
    expect(await pull(3)).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 3 })
    expect(await pull(4)).toMatchObject({ status: 'OFFSET_ILLEGAL', nextOffset: 3 })
    expect(await pull(-1)).toMatchObject({ status: 'OFFSET_ILLEGAL', nextOffset: 0 })
  })

  it.each([{ offset: 0.5 }, { offset: Number.NaN }, { maxMessages: 0 }, { maxMessages: 1.5 }])(
    'refuses %j',
    async (odd) => {
      await expect(pull(0, odd)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )

  it('refuses an unknown topic, queue and broker', async () => {
    await expect(pull(0, { mq: { ...mq, topic: 'none' } })).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await expect(pull(0, { mq: { ...mq, queueId: 1 } })).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' })
    await expect(pull(0, { mq: { ...mq, brokerName: 'b' } })).rejects.toMatchObject({
      code: 'QUEUE_NOT_FOUND',
    })
  })
})

describe('filters', () => {
  it('match tags by their text, never by their hash, and pass the others', async () => {
    await send('Aa', 'BB', undefined, 'Aa', 'C', 'BB')
    expect(await offsets(pull(0, tagged('Aa')))).toEqual([0, 3])
    expect(await offsets(pull(0, tagged('C || BB')))).toEqual([1, 4, 5])
    expect(await offsets(pull(0, tagged('*')))).toEqual([0, 1, 2, 3, 4, 5])
    expect(await pull(0, { ...tagged('Aa'), maxMessages: 1 })).toMatchObject({
      status: 'FOUND',
      nextOffset: 1,
    })
    expect(await pull(1, tagged('Aa'))).toMatchObject({ status: 'FOUND', nextOffset: 6 })
  })

  it('say how far they looked when nothing matched', async () => {
    await send(...Array.from({ length: 5000 }, () => 'other'), 'mine')
    let next = 0
    const statuses: string[] = []
    do {
      const result = await pull(next, tagged('mine'))
      expect(result.nextOffset).toBeGreaterThan(next)
      statuses.push(result.status)
      next = result.nextOffset
    } while (next < 5001)
    expect(statuses.at(-1)).toBe('FOUND')
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set(['NO_MATCHED_MSG']))
    expect(await pull(0, { ...tagged('mine'), waitMs: 10_000 })).toMatchObject({ status: 'NO_MATCHED_MSG' })
  })

  it('take * among tags for a tag, and a blank text for no tag at all', async () => {
    await send('A', 'B', undefined, '*')
    expect(await offsets(pull(0, tagged('A || *')))).toEqual([0, 3])
    expect(await pull(0, tagged('  '))).toMatchObject({ status: 'NO_MATCHED_MSG', nextOffset: 4 })
    await expect(pull(0, tagged('||'))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})

describe('size', () => {
  it('of one pull is bounded, at least one message', async () => {
    const body = Buffer.alloc(400_000)
    await broker.send([{ mq, messages: Array.from({ length: 6 }, () => ({ topic: 'orders', body })) }])
    const large = Buffer.alloc(3_000_000)
    await broker.send([{ mq, messages: [{ topic: 'orders', body: large }] }])
    expect(await offsets(pull(0))).toEqual([0, 1])
    expect(await offsets(pull(2))).toEqual([2, 3])
    expect(await offsets(pull(6))).toEqual([6])
  })

  it('is learnt again when bodies grow and shrink', async () => {
    const batch = (count: number, size: number) =>
      broker.send([
        {
          mq,
          messages: Array.from({ length: count }, () => ({ topic: 'orders', body: Buffer.alloc(size) })),
        },
      ])
    await batch(200, 10)
    await batch(20, 500_000)
    await batch(200, 10)
    const seen: number[] = []
    for (let next = 0; next < 420; ) {
      const { messages, nextOffset } = await pull(next)
      const bytes = messages.reduce((sum, { body }) => sum + body.length, 0)
      expect(bytes).toBeLessThanOrEqual(1024 * 1024)
      seen.push(...messages.map(({ queueOffset }) => queueOffset))
      next = nextOffset
    }
    expect(seen).toEqual(Array.from({ length: 420 }, (_, i) => i))
  })
})

describe('a held pull', () => {
  it('ends with the message that arrives, from this process or another connection', async () => {
    const held = pull(0, { waitMs: 20_000 })
    await send('a')
    expect(await held).toMatchObject({ status: 'FOUND', nextOffset: 1 })
    await using other = await openBroker({ db, durability: 'normal' })
    const again = pull(1, { waitMs: 20_000 })
    await other.send([{ mq, messages: [{ topic: 'orders', body: 'b' }] }])
    expect(await again).toMatchObject({ status: 'FOUND', nextOffset: 2 })
  })

  it('ends when its time is up, when aborted and when the broker closes', async () => {
    await send('a')
    expect(await pull(1, { waitMs: 30 })).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 1 })
    const stop = new AbortController()
    const held = pull(1, { waitMs: 20_000, signal: stop.signal })
    stop.abort()
    expect(await held).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 1 })
    expect(await pull(1, { waitMs: 20_000, signal: stop.signal })).toMatchObject({ status: 'NO_NEW_MSG' })
    const last = pull(1, { waitMs: 20_000 })
    await new Promise((resolve) => setImmediate(resolve))
    await broker.close()
    expect(await last).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 1 })
  })
})

describe('searchOffset', () => {
  it('finds the first of equal times, the start before all and the end after all', async () => {
    await send('a')
    const [first] = (await pull(0)).messages
    while (Date.now() <= (first?.storeTimestamp ?? 0)) await new Promise((resolve) => setTimeout(resolve, 1))
    await send(...Array.from({ length: 101 }, () => 'b'))
    const stored = (await pull(1)).messages[0]?.storeTimestamp ?? 0
    expect(await broker.searchOffset(mq, stored)).toBe(1)
    expect(await broker.searchOffset(mq, stored - 1)).toBe((first?.storeTimestamp ?? 0) >= stored - 1 ? 0 : 1)
    expect(await broker.searchOffset(mq, stored + 3_600_000)).toBe(102)
    expect(await broker.searchOffset(mq, 0)).toBe(0)
    expect(await broker.searchOffset(mq, Number.POSITIVE_INFINITY)).toBe(102)
    await expect(broker.searchOffset(mq, Number.NaN)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
