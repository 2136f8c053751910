import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../../src/core/broker.ts'
import type { TopicChange } from '../../../../src/core/model/topic.ts'
import { openBroker } from '../../../../src/core/open-broker.ts'
import { verify } from '../../../../src/core/ops/verify.ts'
import { joinGroup } from '../../../helpers/member.ts'
import { tempDb } from '../../../helpers/temp.ts'

const mq = (queueId: number) => ({ topic: 't', brokerName: 'embedded', queueId })

let db: string
let broker: Broker
beforeEach(async () => {
  db = tempDb()
  broker = await openBroker({ db, durability: 'normal' })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 't', queues: 3 })
})

const send = (queueId: number, ...bodies: string[]) =>
  broker.send([{ mq: mq(queueId), messages: bodies.map((body) => ({ topic: 't', body })) }])
const ids = (queues: readonly { readonly queueId: number }[]) => queues.map(({ queueId }) => queueId)
const statIds = async () => ids((await broker.queueStats('t')).map((queue) => queue.mq))

describe('alterTopic', () => {
  it('changes what is said and nothing else', async () => {
    const before = await broker.topicConfig('t')
    const after = await broker.admin.alterTopic('t', { retentionMs: 5000, maxBody: 7, perm: 4 })
    expect(after).toEqual({ ...before, retentionMs: 5000, maxBody: 7, perm: 4 })
    expect(await broker.admin.alterTopic('t', { retentionMs: null })).toEqual({ ...after, retentionMs: null })
    expect(await broker.topicConfig('t')).toEqual({ ...after, retentionMs: null })
  })

  it.each<[TopicChange, string]>([
    [{ queues: 0 }, 'INVALID_ARGUMENT'],
    [{ queues: 1025 }, 'INVALID_ARGUMENT'],
    [{ queues: 2.5 }, 'INVALID_ARGUMENT'],
    [{ retentionMs: 0 }, 'INVALID_ARGUMENT'],
    [{ maxBody: 4 * 1024 * 1024 + 1 }, 'INVALID_ARGUMENT'],
    [{ perm: 0 as 6 }, 'INVALID_ARGUMENT'],
    [{ perm: 7 as 6 }, 'INVALID_ARGUMENT'],
  ])('refuses %j', async (change, code) => {
    const before = await broker.topicConfig('t')
    await expect(broker.admin.alterTopic('t', change)).rejects.toMatchObject({ code })
    expect(await broker.topicConfig('t')).toEqual(before)
  })

  it('refuses a topic that is not there', async () => {
    await expect(broker.admin.alterTopic('x', { queues: 4 })).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
    })
  })

  it('adds queues behind those there are', async () => {
    await send(1, 'a')
    await broker.admin.alterTopic('t', { queues: 5 })
    expect(ids(await broker.publishQueues('t'))).toEqual([0, 1, 2, 3, 4])
    expect(ids(await broker.subscribeQueues('t'))).toEqual([0, 1, 2, 3, 4])
    expect((await broker.queueStats('t')).map(({ maxOffset }) => maxOffset)).toEqual([0, 1, 0, 0, 0])
  })

  it('drops queues: they take nothing, and are read while they hold messages', async () => {
    await send(2, 'a', 'b')
    await broker.admin.alterTopic('t', { queues: 1 })
    expect(ids(await broker.publishQueues('t'))).toEqual([0])
    expect(ids(await broker.subscribeQueues('t'))).toEqual([0, 2])
    expect(await statIds()).toEqual([0, 2])
    const { messages } = await broker.pull({ mq: mq(2), offset: 0, maxMessages: 9, waitMs: 0 })
    expect(messages).toHaveLength(2)
    expect((await verify(broker)).violations).toEqual([])
  })

  it('takes dropped queues up again where they ended', async () => {
    await send(2, 'a', 'b')
    await broker.admin.alterTopic('t', { queues: 1 })
    await broker.admin.alterTopic('t', { queues: 3 })
    await send(2, 'c')
    expect((await broker.queueStats('t'))[2]).toMatchObject({ minOffset: 0, maxOffset: 3 })
  })

  it('leaves a dropped queue to a group until it is done there, so that the others are shared evenly', async () => {
    await send(2, 'a', 'b')
    await broker.admin.alterTopic('t', { queues: 1 })
    const [, grant] = await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    if (!grant?.granted) throw new Error('not granted')
    const commit = (offset: number) =>
      broker.commitOffsets('g', 'c', [{ mq: mq(2), epoch: grant.epoch, offset }])
    await commit(1)
    expect(ids(await broker.subscribeQueues('t', 'g'))).toEqual([0, 2])
    await commit(2)
    expect(ids(await broker.subscribeQueues('t', 'g'))).toEqual([0])
    expect(ids(await broker.subscribeQueues('t', 'new'))).toEqual([0, 2])
    expect(ids(await broker.subscribeQueues('t'))).toEqual([0, 2])
  })

  it("sends delayed messages to their key's queue of then, though the topic had no message before", async () => {
    // Java's hash code of b is 98: queue 2 of 3, 3 of 5.
    await broker.send([{ mq: mq(2), messages: [{ topic: 't', key: 'b', body: 'x', delayMs: 200 }] }])
    await broker.admin.alterTopic('t', { queues: 5 })
    const { messages } = await broker.pull({ mq: mq(3), offset: 0, maxMessages: 1, waitMs: 8_000 })
    expect(messages).toMatchObject([{ key: 'b', queueId: 3 }])
  })

  it('makes a topic write only: it takes messages and gives no queues to read', async () => {
    await broker.admin.alterTopic('t', { perm: 2 })
    await send(0, 'a')
    expect(await broker.subscribeQueues('t')).toEqual([])
    await broker.admin.alterTopic('t', { perm: 6 })
    expect(ids(await broker.subscribeQueues('t'))).toEqual([0, 1, 2])
  })

  it('tells members of other processes to allocate anew', async () => {
    await using other = await openBroker({ db, durability: 'normal' })
    await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    const told = new Promise((resolve) => broker.onNotification(resolve))
    await other.admin.alterTopic('t', { queues: 4 })
    expect(await told).toEqual({ kind: 'rebalance', group: 'g' })
  })
})

describe('deleteTopic', () => {
  it('takes messages and offsets with it; one of that name begins anew', async () => {
    await send(0, 'a', 'b')
    const [grant] = await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    if (!grant?.granted) throw new Error('not granted')
    await broker.commitOffsets('g', 'c', [{ mq: mq(0), epoch: grant.epoch, offset: 1 }])
    await broker.admin.alterTopic('t', { queues: 5 })
    const all = [0, 1, 2].map(mq)
    await broker.unlockBatch('g', 'c', all)
    await broker.unregister('g', 'c')
    await broker.admin.deleteTopic('t')
    expect(await broker.topicConfig('t')).toBeUndefined()
    await expect(send(0, 'c')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    expect((await verify(broker)).violations).toEqual([])
    await broker.createTopic({ topic: 't', queues: 1 })
    expect(await broker.committedOffsets('g', 't')).toEqual([])
    expect(await broker.admin.barriers('t')).toEqual([])
    await send(0, 'd')
    expect(await broker.queueStats('t')).toEqual([{ mq: mq(0), minOffset: 0, maxOffset: 1, scheduled: 0 }])
  })

  it('is refused while members consume it, naming them; other topics do not matter', async () => {
    await broker.createTopic({ topic: 'u', queues: 1 })
    await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    await expect(broker.admin.deleteTopic('t')).rejects.toMatchObject({
      code: 'GROUP_ACTIVE',
      why: expect.stringContaining('g (c)'),
      details: { topic: 't', groups: [{ group: 'g', members: ['c'] }] },
    })
    expect(await broker.topicConfig('t')).toBeDefined()
    await broker.admin.deleteTopic('u')
    expect(await broker.topicConfig('u')).toBeUndefined()
  })

  it('leaves dead letters, also those that waited for their turn', async () => {
    await send(0, 'a', 'b')
    const [grant] = await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    if (!grant?.granted) throw new Error('not granted')
    const { messages } = await broker.pull({ mq: mq(0), offset: 0, maxMessages: 2, waitMs: 0 })
    const fence = { group: 'g', clientId: 'c', mq: mq(0), epoch: grant.epoch }
    const letters = messages.map((message) => ({ message, attempts: 1, lastError: 'no' }))
    await broker.deadLetter(fence, letters, 2)
    const list = async () => (await broker.deadLetters.list('g', {}, { limit: 9 })).deadLetters
    const [first] = await list()
    if (first === undefined) throw new Error('no dead letter')
    expect(await broker.deadLetters.replay(first, {})).toMatchObject({ status: 'replayed' })
    await broker.unlockBatch('g', 'c', [0, 1, 2].map(mq))
    await broker.unregister('g', 'c')
    await broker.admin.deleteTopic('t')
    expect((await list()).map(({ state, message }) => [state, message.topic, message.queueOffset])).toEqual([
      ['dead', 't', 0],
      ['dead', 't', 1],
    ])
    expect((await verify(broker)).violations).toEqual([])
  })

  it('while another process sends to it: that send fails and says so', async () => {
    await using other = await openBroker({ db, durability: 'normal' })
    await other.send([{ mq: mq(0), messages: [{ topic: 't', body: 'x' }] }])
    const sending = broker.send([{ mq: mq(0), messages: [{ topic: 't', body: 'y' }] }])
    const [sent, deleted] = await Promise.allSettled([sending, other.admin.deleteTopic('t')])
    expect(deleted.status).toBe('fulfilled')
    if (sent.status === 'rejected') expect(sent.reason.code).toMatch(/^(QUEUE|TOPIC)_NOT_FOUND$/)
    await expect(other.admin.deleteTopic('t')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })
})
