import { describe, expect, it } from 'vitest'
import type { Broker, ConsumerStatus, Message } from '../../src/core/index.ts'
import { rmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

const RETRY_TOPIC = '%RETRY%mailer'
const orders = (queueId: number) => ({ topic: 'orders', brokerName: 'embedded', queueId })

const STATUS: ConsumerStatus = {
  queues: [
    { mq: orders(0), cachedMessages: 1000, cachedBytes: 64_000, consuming: 20, flowControl: 'messages' },
    { mq: orders(1), cachedMessages: 3, cachedBytes: 30, consuming: 1, flowControl: null },
  ],
  topics: [
    {
      topic: 'orders',
      pullRt: 1,
      pullTps: 40,
      consumeRt: 12.5,
      consumeOkTps: 30.25,
      consumeFailedTps: 0.5,
      consumeFailedMsgs: 7,
    },
  ],
}

function join(broker: Broker, clientId: string, more: { readonly status?: ConsumerStatus } = {}) {
  const topics = ['orders', RETRY_TOPIC]
  return broker.heartbeat({
    group: 'mailer',
    clientId,
    mode: 'concurrent',
    subscriptions: topics.map((topic) => ({ topic, expressionType: 'TAG', expression: '*' })),
    lockTtlMs: 60_000,
    ...more,
  })
}

/** A concurrent group with two living members, one of which holds both queues of topic orders. */
async function concurrentGroup(look: (db: string, broker: Broker) => Promise<void>): Promise<void> {
  const db = tempDb()
  await seed(db, 'orders', 2, [
    { body: 'a', queueId: 0 },
    { body: 'b', queueId: 0 },
    { body: 'c', queueId: 1 },
  ])
  await withBroker(db, async (broker) => {
    await join(broker, 'c1', { status: STATUS })
    await join(broker, 'c2')
    await broker.lockBatch('mailer', 'c1', [orders(0), orders(1)], 60_000)
    await look(db, broker)
  })
}

/** The first message failed and comes again in an hour; another one is due. */
async function retries(broker: Broker): Promise<void> {
  const { messages } = await broker.pull({ mq: orders(0), offset: 0, maxMessages: 1, waitMs: 0 })
  const [message] = messages
  const [lock] = await broker.listLocks({ group: 'mailer', topic: 'orders', queueId: 0 })
  if (!message || !lock) throw new Error('there is no message, or no lock')
  const fence = { group: 'mailer', clientId: 'c1', mq: orders(0), epoch: lock.epoch }
  const failure = { message, attempts: 1, lastError: 'no route', delayMs: 3_600_000 }
  if (!(await broker.sendBack(fence, [failure]))) throw new Error('the lock was lost')
  const due: Message = { topic: RETRY_TOPIC, body: 'd' }
  await broker.send([{ mq: { topic: RETRY_TOPIC, brokerName: 'embedded', queueId: 0 }, messages: [due] }])
}

const describeGroup = async (db: string, ...more: readonly string[]) =>
  JSON.parse((await rmq(['groups', 'describe', 'mailer', '--json', ...more], { db })).stdout)

describe('groups describe, of a concurrent group', () => {
  it('shows how its members consume, how fast, and what flow control holds back', () =>
    concurrentGroup(async (db) => {
      const { memberList } = await describeGroup(db)
      expect(memberList).toMatchObject([
        {
          clientId: 'c1',
          mode: 'concurrent',
          messageModel: 'clustering',
          allocate: 'averagely',
          status: {
            queues: [
              { topic: 'orders', queueId: 0, cachedMessages: 1000, consuming: 20, flowControl: 'messages' },
              { topic: 'orders', queueId: 1, flowControl: null },
            ],
            topics: STATUS.topics,
          },
        },
        { clientId: 'c2', status: null },
      ])
      const { stdout } = await rmq(['groups', 'describe', 'mailer'], { db })
      expect(stdout).toContain('\nmax reconsume\t16\n')
      expect(stdout).toContain('\nc1\talive\tconcurrent\t30.25\t0.5\t12.5\t')
      expect(stdout).toContain('\nc2\talive\tconcurrent\t-\t-\t-\t')
      expect(stdout).toContain('\norders:0\tpaused: 1000 messages cached\t20\tc1\n')
      expect(stdout).not.toContain('orders:1\tpaused')
    }))

  it('keeps its retries apart from the topics of its user', () =>
    concurrentGroup(async (db, broker) => {
      await retries(broker)
      const group = await describeGroup(db)
      expect(group.topics).toEqual(['orders'])
      expect(group.retry).toEqual({ topic: RETRY_TOPIC, waiting: 1, scheduled: 1 })
      // Two of three messages of the topic wait, and the one that is due again.
      expect(group.queues.map((queue: { lag: number }) => queue.lag)).toEqual([1, 1])
      expect(group.lag).toBe(3)
      const { stdout } = await rmq(['groups', 'describe', 'mailer'], { db })
      expect(stdout).toContain('\nto be retried\t1 now, 1 later\n')
      expect(stdout).not.toContain('%RETRY%')
      const list = JSON.parse((await rmq(['groups', 'list', '--json'], { db })).stdout)
      expect(list.groups).toMatchObject([{ group: 'mailer', topics: ['orders'], lag: 3 }])
    }))

  it('shows its retry topic among the others with --all', () =>
    concurrentGroup(async (db, broker) => {
      await retries(broker)
      const group = await describeGroup(db, '--all')
      expect(group.topics).toEqual([RETRY_TOPIC, 'orders'])
      expect(group.queues).toMatchObject([
        { topic: RETRY_TOPIC, queueId: 0, lag: 1, scheduled: 1 },
        { topic: 'orders', queueId: 0, scheduled: 0 },
        { topic: 'orders', queueId: 1 },
      ])
      expect(group.lag).toBe(3)
    }))

  it('still knows of the retries when all members are gone', async () => {
    let db = ''
    await concurrentGroup(async (path, broker) => {
      db = path
      await retries(broker)
    })
    expect(await describeGroup(db)).toMatchObject({
      state: 'inactive',
      retry: { waiting: 1, scheduled: 1 },
      lag: 3,
    })
  })
})

describe('locks of a concurrent group', () => {
  it('are listed as those of an orderly one', () =>
    concurrentGroup(async (db) => {
      const { locks } = JSON.parse((await rmq(['locks', 'list', '-g', 'mailer', '--json'], { db })).stdout)
      expect(locks).toMatchObject([
        { topic: 'orders', queueId: 0, clientId: 'c1', state: 'held' },
        { topic: 'orders', queueId: 1, clientId: 'c1', state: 'held' },
      ])
    }))
})

describe('groups describe, of a broadcasting group', () => {
  it('shows how far each member is', async () => {
    const db = tempDb()
    await seed(db, 'orders', 1, [{ body: 'a' }, { body: 'b' }, { body: 'c' }])
    await withBroker(db, async (broker) => {
      for (const [clientId, offset] of [
        ['c1', 1],
        ['c2', 3],
      ] as const) {
        await broker.heartbeat({
          group: 'mailer',
          clientId,
          mode: 'orderly',
          messageModel: 'broadcasting',
          subscriptions: [{ topic: 'orders', expressionType: 'TAG', expression: '*' }],
          lockTtlMs: 60_000,
        })
        await broker.commitLocalOffsets('mailer', clientId, [{ mq: orders(0), offset }])
      }
      const group = await describeGroup(db)
      expect(group.queues).toMatchObject([
        { queueId: 0, owner: 'c1', committedOffset: 1, maxOffset: 3, lag: 2 },
        { queueId: 0, owner: 'c2', committedOffset: 3, maxOffset: 3, lag: 0 },
      ])
      expect(group).toMatchObject({ lag: 2, state: 'active' })
    })
  })
})
