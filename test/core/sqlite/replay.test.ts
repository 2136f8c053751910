import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../src/core/broker.ts'
import type { DeadLetter } from '../../../src/core/model/dead-letter.ts'
import { javaQueueOf } from '../../../src/core/model/hash.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const queue = mq('orders', 0)
let cluster: Cluster
let a: Engine
let fence: Fence

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  await a.send(
    'orders',
    0,
    ...['x', 'yy', 'zzz', 'live'].map((body) => ({ body, key: 'k', properties: { p: 'v' } })),
  )
  fence = await a.own('g', 'a', queue)
  for (const offset of [0, 1, 2]) await a.deadLetter(fence, offset)
})

afterEach(() => cluster.close())

async function letter(offset: number): Promise<DeadLetter> {
  const { deadLetters } = await a.consumption.deadLetters.list(
    'g',
    { states: ['dead', 'parked', 'replayed'] },
    { limit: 100 },
  )
  const found = deadLetters.find(({ message }) => message.queueOffset === offset)
  if (found === undefined) throw new Error(`no dead letter of offset ${offset}`)
  return found
}

const replay = async (offset: number, request = {}) =>
  a.consumption.deadLetters.replay(await letter(offset), request)
const lane = async () => a.consumption.redelivery.pull(fence, 10)

describe('replay to the lane', () => {
  it('brings back the original, in the order of offsets', async () => {
    expect(await replay(2)).toEqual({ status: 'replayed', topic: 'orders', queueId: 0, queueOffset: 2 })
    await replay(0)
    const messages = await lane()
    expect(messages).toEqual([
      { ...a.message('orders', 0, 0), redelivery: { deadLetterId: (await letter(0)).id, replay: 1 } },
      { ...a.message('orders', 0, 2), redelivery: { deadLetterId: (await letter(2)).id, replay: 1 } },
    ])
    expect(await a.consumption.progress('g')).toMatchObject([{ lag: 1 + 2 }, { lag: 0 }])
  })

  it('tells the members of the group', async () => {
    a.notifications.length = 0
    await replay(0)
    expect(a.notifications).toEqual([{ kind: 'redelivery', group: 'g' }])
  })

  it('gives each replay to one of several that ask for it', async () => {
    const seen = await letter(0)
    const b = cluster.start()
    const outcomes = await Promise.all(
      [a, b, a].map((engine) => engine.consumption.deadLetters.replay(seen, {})),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['replayed', 'skipped', 'skipped'])
    expect(outcomes).toContainEqual({ status: 'skipped', reason: 'already replayed, waits for its turn' })
    expect(await lane()).toHaveLength(1)
  })

  it('does not repeat the replay of somebody else after the message died again', async () => {
    const seen = await letter(0)
    await replay(0)
    const [message] = await lane()
    if (message === undefined) throw new Error('nothing in the lane')
    await a.consumption.deadLetter(fence, [{ message, attempts: 2, lastError: 'again' }], null)
    const outcome = await a.consumption.deadLetters.replay(seen, {})
    expect(outcome).toEqual({ status: 'skipped', reason: 'already replayed' })
  })

  it('stops at the wanted number of replays, and says so', async () => {
    for (const replays of [1, 2]) {
      expect(await replay(0, { maxReplays: 2 })).toMatchObject({ status: 'replayed' })
      const [message] = await lane()
      if (message === undefined) throw new Error('nothing in the lane')
      expect(message.redelivery).toEqual({ deadLetterId: (await letter(0)).id, replay: replays })
      expect(message.reconsumeTimes).toBe(0)
      expect(
        await a.consumption.deadLetter(fence, [{ message, attempts: 3, lastError: 'again' }], null),
      ).toBe(true)
      expect(await letter(0)).toMatchObject({
        state: 'dead',
        replays,
        attempts: 3,
        lastError: 'again',
        settledAt: null,
      })
    }
    expect(await replay(0, { maxReplays: 2 })).toEqual({
      status: 'skipped',
      reason: 'replayed 2 times, --max-replays 2',
    })
  })

  it('skips one that is not there', async () => {
    const seen = await letter(0)
    a.store.db.prepare('delete from dead_letter where id = ?').run(seen.id)
    const outcome = await a.consumption.deadLetters.replay(seen, {})
    expect(outcome).toEqual({ status: 'skipped', reason: 'not found' })
  })

  it('fails when the topic is gone, or another of its name, and stays where it is', async () => {
    a.store.db.prepare(`delete from topic where name = 'orders'`).run()
    await expect(replay(0)).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
      message: 'topic orders no longer exists',
    })
    await a.topics.create({ topic: 'orders', queues: 2 })
    await expect(replay(0)).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
      why: /another topic of that name/,
    })
    expect(await letter(0)).toMatchObject({ state: 'dead', replays: 0 })
  })
})

describe('the redelivery lane', () => {
  it('is shut to a stale fence', async () => {
    await replay(0)
    const stale = { ...fence, epoch: fence.epoch + 1 }
    expect(await a.consumption.redelivery.pull(stale, 10)).toEqual([])
    expect(await a.consumption.redelivery.complete(stale, [(await letter(0)).id])).toBe(false)
    expect(await lane()).toHaveLength(1)
  })

  it('counts attempts for themselves, and past owners', async () => {
    await replay(0)
    const position = { offset: 0, replay: 1 }
    await a.consumption.attempts.start(fence, [position])
    const failure = { ...position, attempts: 1, lastError: 'still', nextTryAt: 5 }
    await a.consumption.attempts.fail(fence, [failure])
    await a.consumption.commitOffsets('g', 'a', [{ mq: queue, offset: 4, epoch: fence.epoch }])
    expect(await lane()).toMatchObject([{ reconsumeTimes: 1 }])
    const [progress] = await a.consumption.progress('g')
    expect(progress).toMatchObject({
      lag: 1,
      blocked: { queueOffset: 0, key: 'k', attempts: 1, lastError: 'still' },
    })
  })

  it('lets go of what is done, once', async () => {
    await replay(0)
    await a.consumption.attempts.start(fence, [{ offset: 0, replay: 1 }])
    const { id } = await letter(0)
    cluster.machine.pass(5)
    expect(await a.consumption.redelivery.complete(fence, [id])).toBe(true)
    expect(await lane()).toEqual([])
    expect(await letter(0)).toMatchObject({ state: 'replayed', settledAt: cluster.machine.now, replays: 1 })
    expect(a.store.db.prepare('select count(*) from attempt').pluck().get()).toBe(0)
    expect(await replay(0)).toEqual({ status: 'skipped', reason: 'already replayed' })
  })
})

describe('replay to another topic', () => {
  it('appends a copy with the id and everything else of the original', async () => {
    await a.topics.create({ topic: 'again', queues: 3 })
    const queueId = javaQueueOf('k', 3)
    await a.send('again', queueId, { body: 'before' })
    cluster.machine.pass(5)
    const outcome = await replay(1, { toTopic: 'again' })
    expect(outcome).toEqual({ status: 'replayed', topic: 'again', queueId, queueOffset: 1 })
    const original = a.message('orders', 0, 1)
    expect(a.message('again', queueId, 1)).toEqual({
      ...original,
      topic: 'again',
      queueId,
      queueOffset: 1,
      storeTimestamp: cluster.machine.now,
    })
    const settled = { state: 'replayed', replays: 1, settledAt: cluster.machine.now }
    expect(await letter(1)).toMatchObject(settled)
    expect(await lane()).toEqual([])
  })

  it('refuses a body that the topic does not take, and a topic that is not there', async () => {
    await a.topics.create({ topic: 'small', queues: 1, maxBody: 2 })
    await expect(replay(2, { toTopic: 'small' })).rejects.toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      why: 'it has 3 bytes; the topic takes 2',
    })
    await expect(replay(2, { toTopic: 'none' })).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    a.store.db.prepare(`update topic set perm = 4 where name = 'small'`).run()
    await expect(replay(0, { toTopic: 'small' })).rejects.toMatchObject({ code: 'TOPIC_READ_ONLY' })
    for (const offset of [0, 2]) expect(await letter(offset)).toMatchObject({ state: 'dead', replays: 0 })
  })

  it('still goes when the original topic is gone', async () => {
    await a.topics.create({ topic: 'again', queues: 1 })
    a.store.db.prepare(`delete from topic where name = 'orders'`).run()
    expect(await replay(0, { toTopic: 'again' })).toMatchObject({
      status: 'replayed',
      queueId: 0,
      queueOffset: 0,
    })
  })
})
