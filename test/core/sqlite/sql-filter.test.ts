import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { PullRequest } from '../../../src/core/broker.ts'
import { type Broker, type Message, openBroker } from '../../../src/core/index.ts'
import { tempDb } from '../../helpers/temp.ts'

const topic = 'orders'
const mq = { topic, brokerName: 'embedded', queueId: 0 }

let broker: Broker
beforeEach(async () => {
  broker = await openBroker({ db: tempDb(), durability: 'normal' })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic, queues: 1 })
})

const send = (...messages: readonly Omit<Message, 'topic' | 'body'>[]) =>
  broker.send([{ mq, messages: messages.map((message, i) => ({ body: `${i}`, ...message, topic })) }])
const pull = (expression: string, more: Partial<PullRequest> = {}) =>
  broker.pull({
    mq,
    offset: 0,
    maxMessages: 100,
    waitMs: 0,
    subscription: { topic, expressionType: 'SQL92', expression },
    ...more,
  })
const offsets = async (expression: string, more?: Partial<PullRequest>) =>
  (await pull(expression, more)).messages.map(({ queueOffset }) => queueOffset)

describe('an SQL92 filter', () => {
  it('sees properties, the tag, the lookup keys and the ordering key', async () => {
    await send(
      { properties: { price: '10', region: 'eu' }, tags: 'A', key: 'k1' },
      { properties: { price: '20' }, keys: ['x', 'y'] },
      {},
      { tags: 'B', key: 'k1', keys: ['z'] },
    )
    expect(await offsets('price > 15')).toEqual([1])
    expect(await offsets("price >= 10 AND region IN ('eu', 'us')")).toEqual([0])
    expect(await offsets('price IS NULL')).toEqual([2, 3])
    expect(await offsets("TAGS = 'A' OR TAGS = 'B'")).toEqual([0, 3])
    expect(await offsets('TAGS IS NULL')).toEqual([1, 2])
    expect(await offsets("KEYS = 'x y'")).toEqual([1])
    expect(await offsets("KEYS CONTAINS 'z'")).toEqual([3])
    expect(await offsets("KEYS = 'k1'")).toEqual([0])
    expect(await offsets("__SHARDINGKEY = 'k1'")).toEqual([0, 3])
    expect(await offsets('TRUE')).toEqual([0, 1, 2, 3])
    expect(await offsets('NULL')).toEqual([])
  })

  it('gives the whole message, and says how far it looked', async () => {
    const numbered = Array.from({ length: 5_000 }, (_, i) => ({ properties: { n: String(i) } }))
    await send(...numbered)
    const [message] = (await pull('n = 7')).messages
    expect(message).toMatchObject({ queueOffset: 7, properties: { n: '7' } })
    expect(Buffer.from(message?.body ?? []).toString()).toBe('7')
    expect(await pull('n < 3', { maxMessages: 2 })).toMatchObject({ status: 'FOUND', nextOffset: 2 })
    const found: number[] = []
    const steps: number[] = []
    for (let next = 0; next < 5_000; ) {
      const result = await pull('n = 1 OR n = 4999', { offset: next })
      found.push(...result.messages.map(({ queueOffset }) => queueOffset))
      steps.push(result.nextOffset - next)
      next = result.nextOffset
    }
    expect(found).toEqual([1, 4999])
    expect(Math.max(...steps)).toBeLessThan(5_000)
  })

  it('of one pull does not touch that of another', async () => {
    await send({ properties: { n: '1' } }, { properties: { n: '2' } })
    const both = await Promise.all([offsets('n = 1'), offsets('n = 2'), offsets('n = 1')])
    expect(both).toEqual([[0], [1], [0]])
  })

  it('is refused when it is malformed, before anything is read', async () => {
    await expect(pull('n = ')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', details: { column: 5 } })
    await expect(pull('n = ', { waitMs: 20_000 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  it('keeps the size of a pull bounded', async () => {
    const body = Buffer.alloc(400_000)
    await broker.send([
      { mq, messages: Array.from({ length: 6 }, (_, i) => ({ topic, body, properties: { n: String(i) } })) },
    ])
    expect(await offsets('n <> 1')).toEqual([0, 2])
    expect(await pull('n <> 1')).toMatchObject({ nextOffset: 3 })
  })

  it('ends a held pull for a message that does not match, and is then held again', async () => {
    const held = pull('n = 1', { waitMs: 20_000 })
    await send({ properties: { n: '2' } })
    expect(await held).toMatchObject({ status: 'NO_MATCHED_MSG', messages: [], nextOffset: 1 })
    const started = performance.now()
    expect(await pull('n = 1', { offset: 1, waitMs: 60 })).toMatchObject({
      status: 'NO_NEW_MSG',
      nextOffset: 1,
    })
    expect(performance.now() - started).toBeGreaterThan(40)
    const again = pull('n = 1', { offset: 1, waitMs: 20_000 })
    await send({ properties: { n: '1' } })
    expect(await again).toMatchObject({ status: 'FOUND', nextOffset: 2 })
  })
})
