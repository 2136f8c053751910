import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import type { Message } from '../../../src/core/model/message.ts'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb } from '../../helpers/temp.ts'

const mq = (queueId: number, topic = 'orders') => ({ topic, brokerName: 'embedded', queueId })
type Draft = Omit<Message, 'topic'>

let broker: Broker
beforeEach(async () => {
  broker = await openBroker({ db: tempDb(), durability: 'normal' })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 'orders', queues: 2 })
})

const send = (queueId: number, ...drafts: Draft[]) =>
  broker.send([{ mq: mq(queueId), messages: drafts.map((draft) => ({ topic: 'orders', ...draft })) }])
const read = async (queueId: number) =>
  (await broker.pull({ mq: mq(queueId), offset: 0, maxMessages: 1000, waitMs: 0 })).messages
const roundTrip = async (draft: Draft) => {
  await send(0, draft)
  return (await read(0)).at(-1)
}

describe('offsets', () => {
  it('are contiguous per queue, in the order of the calls, whatever waits at the same time', async () => {
    const sends = Array.from({ length: 200 }, (_, i) =>
      send(i % 2, { body: `${i}` }, { body: `${i}b`, tags: 'b' }),
    )
    const receipts = (await Promise.all(sends)).flat()
    expect(receipts.map(({ queueOffset }) => queueOffset)).toEqual(
      Array.from({ length: 200 }, (_, i) => 2 * Math.floor(i / 2)),
    )
    for (const queueId of [0, 1]) {
      const stored = await read(queueId)
      expect(stored.map(({ queueOffset }) => queueOffset)).toEqual(Array.from({ length: 200 }, (_, i) => i))
      const expected = Array.from({ length: 100 }, (_, i) => [
        `${2 * i + queueId}`,
        `${2 * i + queueId}b`,
      ]).flat()
      expect(stored.map(({ body }) => Buffer.from(body).toString())).toEqual(expected)
    }
  })

  it('of a large batch are one run, of every size around the insert size', async () => {
    let next = 0
    for (const count of [1, 4, 5, 6, 24, 25, 26, 131, 1000]) {
      const [receipt] = await send(0, ...Array.from({ length: count }, (_, i) => ({ body: `${next + i}` })))
      expect(receipt).toMatchObject({ queueOffset: next, count, queueId: 0, topic: 'orders' })
      next += count
    }
    let offset = 0
    while (offset < next) {
      const { messages, nextOffset } = await broker.pull({ mq: mq(0), offset, maxMessages: 100, waitMs: 0 })
      for (const { body, queueOffset } of messages)
        expect(Buffer.from(body).toString()).toBe(`${queueOffset}`)
      offset = nextOffset
    }
  })

  it('are given to all queues of a send or to none', async () => {
    const messages = [{ topic: 'orders', body: 'x' }]
    await expect(
      broker.send([
        { mq: mq(0), messages },
        { mq: mq(7), messages },
      ]),
    ).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND', why: expect.stringContaining('0 to 1') })
    await broker.send([
      { mq: mq(0), messages },
      { mq: mq(1), messages: [...messages, ...messages] },
    ])
    expect((await broker.queueStats('orders')).map(({ maxOffset }) => maxOffset)).toEqual([1, 2])
  })
})

describe('a message comes back as it was sent', () => {
  it('with all it can have', async () => {
    const properties = { 'trace-id': 'ü😀', empty: '', __proto__x: '1', long: 'v'.repeat(4096) }
    const body = Buffer.from([0xff, 0xfe, 0x00, 0xc3])
    const sentFrom = Date.now()
    const message = await roundTrip({
      body,
      key: ' order 17\0é ',
      keys: ['a b', 'c'],
      tags: 'paid',
      properties,
    })
    expect(message).toMatchObject({
      key: ' order 17\0é ',
      keys: ['a b', 'c'],
      tags: 'paid',
      properties,
      body,
    })
    expect(message).toMatchObject({ topic: 'orders', brokerName: 'embedded', queueId: 0, queueOffset: 0 })
    expect(message?.reconsumeTimes).toBe(0)
    expect(message?.bornTimestamp).toBeGreaterThanOrEqual(sentFrom)
    expect(message?.storeTimestamp).toBeGreaterThanOrEqual(message?.bornTimestamp ?? 0)
    expect(message?.storeTimestamp).toBeLessThanOrEqual(Date.now())
  })

  it('keeps a property called __proto__', async () => {
    const properties = JSON.parse('{"__proto__":"x"}') as Record<string, string>
    expect(Object.entries((await roundTrip({ body: '', properties }))?.properties ?? {})).toEqual([
      ['__proto__', 'x'],
    ])
  })

  it.each<[string, Draft, string | null, string[]]>([
    ['without keys', { body: 'x' }, null, []],
    ['with an ordering key, which serves for lookup', { body: 'x', key: 'k' }, 'k', ['k']],
    ['with lookup keys only', { body: 'x', keys: ['k', 'l'] }, null, ['k', 'l']],
    ['with a key and other lookup keys', { body: 'x', key: 'k', keys: ['l'] }, 'k', ['l']],
    ['with a key and no lookup keys', { body: 'x', key: 'k', keys: [] }, 'k', []],
  ])('%s', async (_, draft, key, keys) => {
    expect(await roundTrip(draft)).toMatchObject({ key, keys, tags: null, properties: {} })
  })

  it('as text or as bytes, of any length from none', async () => {
    await send(0, { body: '' }, { body: '订单✓' }, { body: new Uint8Array([0, 97, 0]) })
    expect((await read(0)).map(({ body }) => Buffer.from(body).toString('hex'))).toEqual([
      '',
      Buffer.from('订单✓').toString('hex'),
      '006100',
    ])
  })
})

describe('ids', () => {
  it('are 32 upper-case hex digits, one for each place, and lead back to the message', async () => {
    const [first] = await send(0, { body: 'a' }, { body: 'b' })
    const [second] = await send(1, { body: 'c' })
    const ids = [first?.msgId(0), first?.msgId(1), second?.msgId(0)] as string[]
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[0-9A-F]{32}$/)
    expect((await read(0)).map(({ msgId }) => msgId)).toEqual(ids.slice(0, 2))
    expect(await broker.messageById((ids[1] as string).toLowerCase())).toMatchObject({
      queueId: 0,
      queueOffset: 1,
    })
    expect(await broker.messageById(ids[2] as string, 'orders')).toMatchObject({ queueId: 1, queueOffset: 0 })
  })

  it.each(['', 'x', '0'.repeat(32), 'F'.repeat(32), `${'0'.repeat(8)}0000000100000000000000000`])(
    'that are not ours (%j) find nothing',
    async (id) => {
      await send(0, { body: 'a' })
      expect(await broker.messageById(id)).toBeUndefined()
      expect(await broker.messageById(id, 'orders')).toBeUndefined()
    },
  )
})

describe('refused, and nothing stored', () => {
  it.each<[string, Draft]>([
    ['half a surrogate pair in the body', { body: '\ud83d' }],
    ['half a surrogate pair in the key', { body: 'x', key: 'a\udc00' }],
    ['a separator of RocketMQ in the key', { body: 'x', key: 'a\u0001b' }],
    ['a separator in the tag', { body: 'x', tags: 'a\u0002' }],
    ['a separator in a lookup key', { body: 'x', keys: ['\u0001'] }],
    ['a separator in a property', { body: 'x', properties: { a: '\u0002' } }],
    ['an empty key', { body: 'x', key: '' }],
    ['an empty lookup key', { body: 'x', keys: ['a', ''] }],
    ['a blank tag', { body: 'x', tags: ' ' }],
    ['a blank property name', { body: 'x', properties: { ' ': 'v' } }],
    ['a reserved property', { body: 'x', properties: { UNIQ_KEY: 'v' } }],
    ['a transient property', { body: 'x', properties: { '__RMQ.TRANSIENT.a': 'v' } }],
    ['too many properties', { body: 'x', properties: { a: 'é'.repeat(16_400) } }],
    ['a key that fills the properties twice', { body: 'x', key: 'k'.repeat(16_400) }],
  ])('%s', async (_, draft) => {
    await expect(send(0, { body: 'fine' }, draft)).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(await read(0)).toEqual([])
  })

  it('a body above the limit, counted in bytes', async () => {
    await broker.createTopic({ topic: 'small', queues: 1, maxBody: 6 })
    const sendSmall = (body: string) =>
      broker.send([{ mq: mq(0, 'small'), messages: [{ topic: 'small', body }] }])
    await sendSmall('汉汉')
    await expect(sendSmall('汉汉汉')).rejects.toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      message: expect.stringMatching(/9 bytes.*6/),
    })
    expect((await broker.queueStats('small'))[0]?.maxOffset).toBe(1)
  })

  it('just as many properties as RocketMQ can carry', async () => {
    // The name, the value and two separators.
    const value = 'v'.repeat(32_767 - 'name'.length - 2)
    await send(0, { body: 'x', properties: { name: value } })
    await expect(send(0, { body: 'x', properties: { name: `${value}v` } })).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      message: expect.stringContaining('32768'),
    })
  })

  it('a topic that does not exist, with the nearest name', async () => {
    await expect(
      broker.send([{ mq: mq(0, 'ordrs'), messages: [{ topic: 'ordrs', body: 'x' }] }]),
    ).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND', hint: expect.stringContaining('orders') })
  })
})
