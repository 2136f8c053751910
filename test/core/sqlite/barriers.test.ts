import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, PullRequest } from '../../../src/core/broker.ts'
import { openBroker } from '../../../src/core/open-broker.ts'
import { tempDb } from '../../helpers/temp.ts'

const mq = (queueId: number) => ({ topic: 't', brokerName: 'embedded', queueId })

let db: string
let broker: Broker
beforeEach(async () => {
  db = tempDb()
  broker = await openBroker({ db, durability: 'normal' })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 't', queues: 2 })
})

const send = (queueId: number, ...bodies: string[]) =>
  broker.send([{ mq: mq(queueId), messages: bodies.map((body) => ({ topic: 't', body })) }])
const alter = (queues: number) => broker.admin.alterTopic('t', { queues })
const pull = (queueId: number, offset: number, more: Partial<PullRequest> = {}) =>
  broker.pull({ group: 'g', ordered: true, mq: mq(queueId), offset, maxMessages: 100, waitMs: 0, ...more })
const bodies = async (result: ReturnType<typeof pull>) =>
  (await result).messages.map(({ body }) => Buffer.from(body).toString())

/** Group `g` joins and takes the locks of all queues; answers how it commits. */
async function join(group = 'g') {
  const clientId = `${group}-member`
  await broker.heartbeat({ group, clientId, mode: 'orderly', subscriptions: [], lockTtlMs: 60_000 })
  return async (queueId: number, offset: number) => {
    const [grant] = await broker.lockBatch(group, clientId, [mq(queueId)], 60_000)
    if (!grant?.granted) throw new Error('not granted')
    const [isTaken] = await broker.commitOffsets(group, clientId, [
      { mq: mq(queueId), epoch: grant.epoch, offset },
    ])
    expect(isTaken).toBe(true)
  }
}

describe('behind a barrier', () => {
  it('a group gets nothing before it is done with everything in front, in all queues', async () => {
    const commit = await join()
    await send(0, 'a0', 'a1')
    await send(1, 'b0')
    await alter(3)
    await send(0, 'a2')
    await send(2, 'c0')
    expect(await bodies(pull(0, 0))).toEqual(['a0', 'a1'])
    expect(await pull(0, 2)).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 2, maxOffset: 3 })
    // Made with the barrier: it lies behind it as a whole.
    expect(await pull(2, 0)).toMatchObject({ status: 'NO_NEW_MSG', nextOffset: 0, maxOffset: 1 })
    await commit(0, 2)
    expect(await pull(2, 0)).toMatchObject({ status: 'NO_NEW_MSG' })
    await commit(1, 1)
    expect(await bodies(pull(0, 2))).toEqual(['a2'])
    expect(await bodies(pull(2, 0))).toEqual(['c0'])
  })

  it('queues of two changes wait for the first one first', async () => {
    const commit = await join()
    await send(0, 'a0')
    await alter(3)
    await send(2, 'c0')
    await alter(4)
    await send(3, 'd0')
    await commit(0, 1)
    expect(await bodies(pull(2, 0))).toEqual(['c0'])
    expect(await pull(3, 0)).toMatchObject({ status: 'NO_NEW_MSG' })
    await commit(2, 1)
    expect(await bodies(pull(3, 0))).toEqual(['d0'])
  })

  it('each group has its own place, and who keeps no order is not held', async () => {
    const commit = await join()
    await send(0, 'a0')
    await alter(3)
    await send(2, 'c0')
    await commit(0, 1)
    expect(await bodies(pull(2, 0))).toEqual(['c0'])
    expect((await pull(2, 0, { group: 'other' })).status).toBe('NO_NEW_MSG')
    expect(await bodies(pull(2, 0, { group: 'other', ordered: false }))).toEqual(['c0'])
    const { messages } = await broker.pull({ mq: mq(2), offset: 0, maxMessages: 1, waitMs: 0 })
    expect(messages).toHaveLength(1)
  })

  it('a group that is set back waits again', async () => {
    const commit = await join()
    await send(0, 'a0')
    await alter(3)
    await send(2, 'c0')
    await commit(0, 1)
    expect((await pull(2, 0)).status).toBe('FOUND')
    await broker.admin.resetOffsets('g', [{ mq: mq(0), offset: 0 }], { force: true })
    expect((await pull(2, 0)).status).toBe('NO_NEW_MSG')
  })

  it('a queue that was dropped and taken up again is held behind what it had before', async () => {
    const commit = await join()
    await send(1, 'b0')
    await alter(1)
    await send(0, 'a0')
    await alter(2)
    await send(1, 'b1')
    expect(await bodies(pull(1, 0))).toEqual(['b0'])
    await commit(1, 1)
    expect((await pull(1, 1)).status).toBe('NO_NEW_MSG')
    expect(await bodies(pull(0, 0))).toEqual(['a0'])
    await commit(0, 1)
    expect(await bodies(pull(1, 1))).toEqual(['b1'])
  })

  it('a held pull goes on when the barrier is passed elsewhere', async () => {
    await using other = await openBroker({ db, durability: 'normal' })
    const commit = await join()
    await send(0, 'a0')
    await alter(3)
    await send(2, 'c0')
    let isAnswered = false
    const held = other
      .pull({ group: 'g', ordered: true, mq: mq(2), offset: 0, maxMessages: 1, waitMs: 15_000 })
      .finally(() => {
        isAnswered = true
      })
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(isAnswered).toBe(false)
    await commit(0, 1)
    expect((await held).messages).toHaveLength(1)
  })

  it('a pull that is held there ends with its signal', async () => {
    await send(0, 'a0')
    await alter(3)
    await send(2, 'c0')
    const stop = new AbortController()
    const held = pull(2, 0, { waitMs: 15_000, signal: stop.signal })
    stop.abort()
    expect((await held).status).toBe('NO_NEW_MSG')
  })
})

describe('nobody waits', () => {
  it('after the same number, another setting, or a change where there never was a message', async () => {
    await alter(4)
    await send(3, 'd0')
    await alter(4)
    await broker.admin.alterTopic('t', { maxBody: 1000 })
    expect((await pull(3, 0)).status).toBe('FOUND')
    expect(await broker.admin.barriers('t')).toEqual([])
  })
})

describe('barriers', () => {
  it('tell who is held up, and where, until everybody is past', async () => {
    const commit = await join()
    await send(0, 'a0', 'a1')
    await send(1, 'b0')
    await commit(0, 1)
    await alter(3)
    const standing = await broker.admin.barriers('t')
    expect(standing).toEqual([
      {
        topic: 't',
        fromQueues: 2,
        toQueues: 3,
        createdAt: expect.any(Number),
        heldUpBy: [
          {
            group: 'g',
            queues: [
              { queueId: 0, committedOffset: 1, offset: 2 },
              { queueId: 1, committedOffset: null, offset: 1 },
            ],
          },
        ],
      },
    ])
    await commit(0, 2)
    expect((await broker.admin.barriers('t'))[0]?.heldUpBy).toEqual([
      { group: 'g', queues: [{ queueId: 1, committedOffset: null, offset: 1 }] },
    ])
    await commit(1, 1)
    expect(await broker.admin.barriers('t')).toEqual([])
    await expect(broker.admin.barriers('nope')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })
})

describe('a send', () => {
  const keyed = (queueId: number, queues: number) =>
    broker.send([{ mq: mq(queueId), queues, messages: [{ topic: 't', key: 'k', body: 'x' }] }])

  it('whose queue was chosen among another number of queues is refused, and nothing is stored', async () => {
    await alter(3)
    await expect(keyed(0, 2)).rejects.toMatchObject({ code: 'ROUTE_CHANGED' })
    await keyed(0, 3)
    expect((await broker.queueStats('t'))[0]).toMatchObject({ maxOffset: 1 })
  })

  it('that is overtaken by the change on its way fails alone', async () => {
    // All in one turn: the sends have looked at the route before the change is written, and share one write behind it.
    const results = await Promise.allSettled([alter(3), keyed(0, 2), send(1, 'free'), keyed(1, 2)])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect(results[1]).toMatchObject({ reason: { code: 'ROUTE_CHANGED' } })
    expect((await broker.queueStats('t')).map(({ maxOffset }) => maxOffset)).toEqual([0, 1, 0])
  })

  it('to a queue that was dropped is refused, also on its way', async () => {
    const results = await Promise.allSettled([alter(1), send(1, 'late')])
    expect(results[1]).toMatchObject({ reason: { code: 'QUEUE_NOT_FOUND' } })
    await expect(send(1, 'later')).rejects.toMatchObject({ code: 'QUEUE_NOT_FOUND' })
    await alter(2)
    await send(1, 'again')
    expect((await broker.queueStats('t'))[1]).toMatchObject({ maxOffset: 1 })
  })
})
