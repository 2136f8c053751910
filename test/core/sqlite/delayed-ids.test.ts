import { beforeEach, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import type { Message } from '../../../src/core/model/message.ts'
import type { EmbeddedBroker } from '../../../src/core/sqlite/embedded-broker.ts'
import { DelayedWorld, text } from './delayed-world.ts'
import { mq } from './engine.ts'

const SECOND = 1000

let world: DelayedWorld
let broker: EmbeddedBroker
beforeEach(async () => {
  world = new DelayedWorld()
  broker = world.startListener()
  await broker.createTopic({ topic: 'orders', queues: 2 })
})

const send = (at: Broker, ...drafts: readonly Omit<Message, 'topic'>[]) =>
  at.send([{ mq: mq('orders', 1), messages: drafts.map((draft) => ({ topic: 'orders', ...draft })) }])

describe('the id of a delayed message', () => {
  it('says, until it is due, when it comes and where to', async () => {
    const dueAt = world.clock.now() + SECOND
    const [receipt] = await send(broker, { body: 'x', deliverAt: dueAt })
    const msgId = receipt?.msgId(0) ?? ''
    for (const topic of ['orders', undefined]) {
      await expect(broker.messageById(msgId, topic)).rejects.toMatchObject({
        code: 'MESSAGE_NOT_FOUND',
        why: expect.stringContaining(new Date(dueAt).toISOString()),
        details: { msgId, topic: 'orders', queueId: 1, deliverAt: new Date(dueAt).toISOString() },
      })
    }
  })

  it('finds it afterwards, also by who does not know its topic', async () => {
    await broker.createTopic({ topic: 'others', queues: 3 })
    const [receipt] = await send(broker, { body: 'x', delayMs: SECOND })
    await world.pass(2 * SECOND)
    const msgId = receipt?.msgId(0) ?? ''
    for (const topic of ['orders', undefined]) {
      expect(await broker.messageById(msgId, topic)).toMatchObject({ msgId, topic: 'orders', queueId: 1 })
    }
    expect(await broker.messageById(msgId, 'others')).toBeUndefined()
  })

  it('finds one that is due by now, though nobody lived to deliver it', async () => {
    const sender = world.start()
    const [receipt] = await send(sender, { body: 'x', delayMs: SECOND })
    await sender.close()
    await broker.close()
    world.clock.setForward(SECOND)
    expect(await world.start().messageById(receipt?.msgId(0) ?? '')).toMatchObject({ queueOffset: 0 })
  })

  it('is no other message’s, whoever sends and however many have come and gone', async () => {
    const other = world.start()
    const ids: string[] = []
    for (let round = 0; round < 3; round++) {
      const drafts = Array.from({ length: 7 }, (_, i) => ({ body: `${i}`, delayMs: SECOND }))
      const receipts = await Promise.all([broker, other, broker].map((at) => send(at, ...drafts)))
      for (const [receipt] of receipts) {
        for (let i = 0; i < (receipt?.count ?? 0); i++) ids.push(receipt?.msgId(i) ?? '')
      }
      await world.pass(2 * SECOND)
    }
    expect(ids).toHaveLength(63)
    expect(new Set(ids).size).toBe(63)
    const stored = await world.stored(broker, 1)
    expect(stored.map(({ msgId }) => msgId).sort()).toEqual([...ids].sort())
  })
})

describe('messages of one group', () => {
  it('are delayed together or not at all', async () => {
    await expect(send(broker, { body: 'x', delayMs: 1 }, { body: 'y' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      why: '1 of 2 are',
    })
    expect(await world.stored(broker, 1)).toEqual([])
  })

  it('may have times that have passed among those to come: they are due at once', async () => {
    const past = { body: 'past', deliverAt: world.clock.now() - SECOND }
    const [receipt] = await send(broker, past, { body: 'later', delayMs: SECOND })
    expect(receipt?.queueOffset).toBeNull()
    await world.pass(50)
    expect((await world.stored(broker, 1)).map(text)).toEqual(['past'])
    await world.pass(SECOND)
    expect((await world.stored(broker, 1)).map(text)).toEqual(['past', 'later'])
  })

  it('that cannot be stored are all refused, with the other groups of their send', async () => {
    const good = { mq: mq('orders', 0), messages: [{ topic: 'orders', body: 'x', delayMs: SECOND }] }
    const bad = { mq: mq('orders', 1), messages: [{ topic: 'orders', body: 'x', delayLevel: 0 }] }
    await expect(broker.send([good, bad])).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await world.pass(2 * SECOND)
    expect(await world.stored(broker, 0)).toEqual([])
  })
})
