import { beforeEach, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import type { Message } from '../../../src/core/model/message.ts'
import { DelayedWorld, text } from './delayed-world.ts'
import { mq, settled } from './engine.ts'

const SECOND = 1000
const HOUR = 3_600_000
type Draft = Omit<Message, 'topic'>

let world: DelayedWorld
beforeEach(() => {
  world = new DelayedWorld()
})

async function send(broker: Broker, queueId: number, ...drafts: readonly Draft[]) {
  const messages = drafts.map((draft) => ({ topic: 'orders', ...draft }))
  const [receipt] = await broker.send([{ mq: mq('orders', queueId), messages }])
  if (receipt === undefined) throw new Error('no receipt')
  return receipt
}

describe('a delayed message, while a process lives', () => {
  it('is in no queue before it is due, and there within 100 ms of it', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const sentAt = world.clock.now()
    const receipt = await send(broker, 0, { body: 'x', delayMs: 10 * SECOND })
    expect(receipt).toMatchObject({ queueOffset: null, count: 1, queueId: 0, topic: 'orders' })
    expect(receipt.deliverAt?.(0)).toBe(sentAt + 10 * SECOND)
    await world.pass(10 * SECOND - 1)
    expect(await world.stored(broker)).toEqual([])
    await world.pass(100)
    const [message] = await world.stored(broker)
    expect(message).toMatchObject({
      queueOffset: 0,
      bornTimestamp: sentAt,
      reconsumeTimes: 0,
      properties: {},
    })
    const late = (message?.storeTimestamp ?? 0) - sentAt - 10 * SECOND
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(100)
  })

  it('comes in the order of due times, then of sending, whichever way its time was said', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const sentAt = world.clock.now()
    await send(broker, 0, { body: 'c', delayLevel: 2 })
    await send(broker, 0, { body: 'd', delayMs: 5 * SECOND }, { body: 'a', deliverAt: sentAt + 250 })
    await send(broker, 0, { body: 'e', deliverAt: sentAt + 5 * SECOND }, { body: 'b', delayLevel: 1 })
    await send(broker, 0, { body: 'first' })
    await world.pass(6 * SECOND)
    const messages = await world.stored(broker)
    expect(messages.map(text)).toEqual(['first', 'a', 'b', 'c', 'd', 'e'])
    expect(messages.map(({ queueOffset }) => queueOffset)).toEqual([0, 1, 2, 3, 4, 5])
    for (const [i, delay] of [0, 250, SECOND, 5 * SECOND, 5 * SECOND, 5 * SECOND].entries()) {
      const late = (messages[i]?.storeTimestamp ?? 0) - sentAt - delay
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(100)
    }
  })

  it('comes as it was sent, with the id that its sender was told, and is found by it', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 2 })
    const properties = JSON.parse('{"a":"ü😀","__proto__":"x"}') as Record<string, string>
    const body = Buffer.from([0xff, 0, 0x0a])
    const full = { body, key: 'k', keys: ['l', 'm'], tags: 't', properties }
    const receipt = await send(broker, 1, { ...full, delayMs: SECOND }, { body: 'plain', delayMs: SECOND })
    await world.pass(2 * SECOND)
    const messages = await world.stored(broker, 1)
    expect(messages).toMatchObject([
      { key: 'k', keys: ['l', 'm'], tags: 't', body },
      { key: null, keys: [], tags: null, properties: {} },
    ])
    expect(Object.entries(messages[0]?.properties ?? {})).toEqual(Object.entries(properties))
    const ids = [receipt.msgId(0), receipt.msgId(1)]
    expect(messages.map(({ msgId }) => msgId)).toEqual(ids)
    for (const id of ids) expect(id).toMatch(/^[0-9A-F]{32}$/)
    for (const [i, id] of ids.entries()) {
      expect(await broker.messageById(id.toLowerCase(), 'orders')).toMatchObject({
        queueId: 1,
        queueOffset: i,
      })
    }
  })

  it('whose time has passed is stored at once, at an offset', async () => {
    const broker = world.start()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const now = world.clock.now()
    for (const draft of [{ deliverAt: now - HOUR }, { deliverAt: now }, { delayMs: 0 }, { deliverAt: 0 }]) {
      expect((await send(broker, 0, { body: 'x', ...draft })).queueOffset).not.toBeNull()
    }
    expect(await world.stored(broker)).toHaveLength(4)
  })

  it('is told to who waits for messages, without their asking again', async () => {
    const broker = world.start()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const held = broker.pull({ mq: mq('orders', 0), offset: 0, maxMessages: 10, waitMs: 15 * SECOND })
    const other = world.start()
    await send(other, 0, { body: 'x', delayMs: 300 })
    await world.pass(400)
    expect((await held).messages.map(text)).toEqual(['x'])
  })
})

describe('a wall clock that is set', () => {
  it('forward brings a message within a second', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    await send(broker, 0, { body: 'x', delayMs: HOUR })
    await world.pass(5 * SECOND)
    world.clock.setForward(HOUR)
    await world.pass(SECOND + 100)
    expect((await world.stored(broker)).map(text)).toEqual(['x'])
  })

  it('back makes it wait until the clock says its time, however long that takes', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const dueAt = world.clock.now() + 500
    await send(broker, 0, { body: 'x', deliverAt: dueAt })
    // The timer of the last moment is running.
    await world.pass(400)
    world.clock.setForward(-10 * SECOND)
    await world.pass(10 * SECOND)
    expect(await world.stored(broker)).toEqual([])
    await world.pass(200)
    const [message] = await world.stored(broker)
    expect(message?.storeTimestamp).toBeGreaterThanOrEqual(dueAt)
  })
})

describe('several processes', () => {
  it('that wake for the same messages deliver each once', async () => {
    const broker = world.startListener()
    world.startListener()
    world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const drafts = Array.from({ length: 1300 }, (_, i) => ({ body: `${i}`, delayMs: SECOND }))
    await send(broker, 0, ...drafts)
    await world.pass(SECOND + 100)
    for (let turn = 0; turn < 20; turn++) await settled()
    expect((await world.stored(broker)).map(text)).toEqual(drafts.map(({ body }) => body))
  })

  it('one of which alone is left: it delivers what the others sent', async () => {
    const rest = world.startListener()
    await rest.createTopic({ topic: 'orders', queues: 1 })
    const sender = world.start()
    await send(sender, 0, { body: 'x', delayMs: SECOND })
    await sender.close()
    await world.pass(SECOND + 100)
    expect((await world.stored(rest)).map(text)).toEqual(['x'])
  })

  it('that have sent delayed messages and are closed have no timers left, which would keep them alive', async () => {
    const sender = world.start()
    await sender.createTopic({ topic: 'orders', queues: 1 })
    const before = world.clock.waiting
    await send(sender, 0, { body: 'x', delayMs: SECOND })
    expect(world.clock.waiting).toBeGreaterThan(before)
    await sender.close()
    expect(world.clock.waiting).toBe(before)
  })

  it('none of which lived when a message was due: the next that looks delivers it', async () => {
    const sender = world.start()
    await sender.createTopic({ topic: 'orders', queues: 1 })
    await send(sender, 0, { body: 'x', delayMs: SECOND }, { body: 'y', delayMs: 2 * SECOND })
    await sender.close()
    world.clock.setForward(SECOND)
    const pull = { mq: mq('orders', 0), offset: 0, maxMessages: 10, waitMs: 0 }
    expect(await world.start().pull(pull)).toMatchObject({ status: 'FOUND', maxOffset: 1 })
    world.clock.setForward(SECOND)
    expect(await world.start().queueStats('orders')).toMatchObject([{ maxOffset: 2 }])
  })

  it('one of which only looks for a time finds what is due by then', async () => {
    const sender = world.start()
    await sender.createTopic({ topic: 'orders', queues: 1 })
    await send(sender, 0, { body: 'x', delayMs: SECOND })
    await sender.close()
    world.clock.setForward(2 * SECOND)
    expect(await world.start().searchOffset(mq('orders', 0), world.clock.now() + 1)).toBe(1)
  })
})

describe('a topic', () => {
  it('that is deleted takes its delayed messages with it, and no other’s', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 2 })
    await broker.createTopic({ topic: 'kept', queues: 1 })
    await send(broker, 0, { body: 'x', delayMs: SECOND })
    await broker.send([{ mq: mq('kept', 0), messages: [{ topic: 'kept', body: 'y', delayMs: SECOND }] }])
    await broker.admin.deleteTopic('orders')
    await broker.createTopic({ topic: 'orders', queues: 2 })
    await world.pass(2 * SECOND)
    expect((await broker.queueStats('orders')).map(({ maxOffset }) => maxOffset)).toEqual([0, 0])
    expect((await world.stored(broker, 0, 'kept')).map(text)).toEqual(['y'])
  })

  it('that is gone when a delayed message is stored refuses it as any other message', async () => {
    const broker = world.start()
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const codes: unknown[] = []
    for (const draft of [{ body: 'x' }, { body: 'x', delayMs: SECOND }]) {
      // Its queue is looked up before the topic is deleted, and the message stored after that.
      const deleted = broker.admin.deleteTopic('orders')
      codes.push(await send(broker, 0, draft).catch((error: { code?: string }) => error.code))
      await deleted
      await broker.createTopic({ topic: 'orders', queues: 1 })
    }
    expect(codes[1]).toBe(codes[0])
    expect(codes[0]).toMatch(/NOT_FOUND$/)
  })

  it('that has another number of queues when a message is due gets it in the queue of its key', async () => {
    const broker = world.startListener()
    await broker.createTopic({ topic: 'orders', queues: 8 })
    await send(broker, 7, { body: 'keyed', key: 'a', delayMs: SECOND }, { body: 'plain', delayMs: SECOND })
    await broker.admin.alterTopic('orders', { queues: 3 })
    await world.pass(2 * SECOND)
    // Java: "a".hashCode() = 97, and 97 % 3 = 1; without a key queue 7 becomes 7 % 3.
    expect((await world.stored(broker, 1)).map(text)).toEqual(['keyed', 'plain'])
  })
})
