import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/core/broker.ts'
import type { TopicSpec } from '../../../src/core/model/topic.ts'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb } from '../../helpers/temp.ts'

let db: string
let broker: Broker
beforeEach(async () => {
  db = tempDb()
  broker = await openBroker({ db, durability: 'normal' })
  onTestFinished(() => broker.close())
})

describe('createTopic', () => {
  it('fills in what is not said, and keeps what is', async () => {
    const from = Date.now()
    const plain = await broker.createTopic({ topic: 'a' })
    expect(plain).toMatchObject({ topic: 'a', queues: 8, hash: 'java', retentionMs: null, perm: 6 })
    expect(plain.maxBody).toBe(4 * 1024 * 1024)
    expect(plain.createdAt).toBeGreaterThanOrEqual(from)
    const said = await broker.createTopic({ topic: 'b', queues: 3, retentionMs: 5000, maxBody: 10 })
    expect(said).toMatchObject({ queues: 3, retentionMs: 5000, maxBody: 10 })
    expect(await broker.topicConfig('b')).toEqual(said)
  })

  it('makes as many queues, numbered from 0', async () => {
    await broker.createTopic({ topic: 'a', queues: 3 })
    const queues = [0, 1, 2].map((queueId) => ({ topic: 'a', brokerName: 'embedded', queueId }))
    expect(await broker.publishQueues('a')).toEqual(queues)
    expect(await broker.subscribeQueues('a')).toEqual(queues)
    expect(await broker.queueStats('a')).toEqual(
      queues.map((mq) => ({ mq, minOffset: 0, maxOffset: 0, scheduled: 0 })),
    )
  })

  it('of a name that is taken is refused, by two connections at once too', async () => {
    await using other = await openBroker({ db, durability: 'normal' })
    const results = await Promise.allSettled([
      broker.createTopic({ topic: 'a' }),
      other.createTopic({ topic: 'a' }),
      broker.createTopic({ topic: 'A' }),
    ])
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(2)
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'TOPIC_EXISTS' },
    })
    expect((await broker.listTopics()).map(({ topic }) => topic)).toEqual(['A', 'a'])
  })

  it.each<[TopicSpec, string]>([
    [{ topic: 'a.b' }, 'INVALID_NAME'],
    [{ topic: 'TBW102' }, 'INVALID_NAME'],
    [{ topic: 'a', queues: 0 }, 'INVALID_ARGUMENT'],
    [{ topic: 'a', queues: 1.5 }, 'INVALID_ARGUMENT'],
    [{ topic: 'a', queues: 1025 }, 'INVALID_ARGUMENT'],
    [{ topic: 'a', maxBody: 4 * 1024 * 1024 + 1 }, 'INVALID_ARGUMENT'],
    [{ topic: 'a', retentionMs: 0 }, 'INVALID_ARGUMENT'],
    [{ topic: 'a', hash: 'md5' as 'java' }, 'INVALID_ARGUMENT'],
  ])('refuses %j', async (spec, code) => {
    await expect(broker.createTopic(spec)).rejects.toMatchObject({ code })
    expect(await broker.listTopics({ all: true })).toEqual([])
  })
})

describe('an unknown topic', () => {
  it('is undefined as a config, and an error as a route', async () => {
    await broker.createTopic({ topic: 'orders' })
    expect(await broker.topicConfig('ordrs')).toBeUndefined()
    for (const ask of [
      broker.publishQueues('ordrs'),
      broker.subscribeQueues('ordrs'),
      broker.queueStats('ordrs'),
    ]) {
      await expect(ask).rejects.toMatchObject({
        code: 'TOPIC_NOT_FOUND',
        why: expect.stringContaining('1 topic'),
        hint: expect.stringContaining('orders'),
      })
    }
  })
})
