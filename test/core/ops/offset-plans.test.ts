import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Broker,
  type OffsetSpec,
  openBroker,
  Producer,
  planClone,
  planReset,
} from '../../../src/core/index.ts'
import { joinGroup } from '../../helpers/member.ts'
import { tempDb } from '../../helpers/temp.ts'

let broker: Broker
let db: string

beforeEach(async () => {
  db = tempDb()
  broker = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 1 })
})

afterEach(() => broker.close())

const queue = { topic: 't', brokerName: 'embedded', queueId: 0 }

async function send(count: number, topic = 't'): Promise<void> {
  const messages = Array.from({ length: count }, (_, i) => ({ topic, body: `m${i}` }))
  await new Producer(broker).sendBatch(messages, { queueId: 0 })
}

/** Group `g` is at this offset of queue 0. */
async function startAt(offset: number): Promise<void> {
  await broker.admin.createGroup({ group: 'g' })
  await broker.admin.resetOffsets('g', [{ mq: queue, offset }], { force: false })
}

const plan = async (to: OffsetSpec) => (await planReset(broker, { group: 'g', to }))[0]?.to

describe('planReset', () => {
  it.each<[OffsetSpec, number]>([
    [{ kind: 'earliest' }, 0],
    [{ kind: 'latest' }, 10],
    [{ kind: 'committed' }, 6],
    [{ kind: 'offset', offset: 0 }, 0],
    [{ kind: 'offset', offset: 10 }, 10],
    [{ kind: 'after-earliest', count: 2 }, 2],
    [{ kind: 'after-earliest', count: 99 }, 10],
    [{ kind: 'before-latest', count: 3 }, 7],
    [{ kind: 'before-latest', count: 99 }, 0],
    [{ kind: 'time', timestamp: 0 }, 0],
  ])('finds %j', async (to, offset) => {
    await send(10)
    await startAt(6)
    expect(await plan(to)).toBe(offset)
    expect(await broker.committedOffsets('g', 't')).toMatchObject([{ offset: 6 }])
  })

  it('goes to the end for a time after the newest message, not to the message before it', async () => {
    await send(10)
    await startAt(0)
    expect(await plan({ kind: 'time', timestamp: Date.now() + 3600_000 })).toBe(10)
  })

  it('goes to the first of many messages that were stored in the same millisecond', async () => {
    await send(3)
    await sleep(5)
    await send(101)
    await startAt(0)
    const { messages } = await broker.pull({ mq: queue, offset: 3, maxMessages: 200, waitMs: 0 })
    const timestamps = new Set(messages.map(({ storeTimestamp }) => storeTimestamp))
    expect([messages.length, timestamps.size]).toEqual([101, 1])
    expect(await plan({ kind: 'time', timestamp: messages[0]?.storeTimestamp ?? 0 })).toBe(3)
  })

  it.each([11, 999_999, -1])('refuses the number %d, and says which ones there are', async (offset) => {
    await send(10)
    await startAt(6)
    await expect(plan({ kind: 'offset', offset })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      why: 'its offsets are 0 to 10',
    })
  })

  it('leaves the retry topic of the group alone unless it is named', async () => {
    await send(2)
    await broker.heartbeat({
      group: 'g',
      clientId: 'c',
      mode: 'concurrent',
      subscriptions: ['t', '%RETRY%g'].map((topic) => ({ topic, expressionType: 'TAG', expression: '*' })),
      lockTtlMs: 60_000,
    })
    const retry = { topic: '%RETRY%g', brokerName: 'embedded', queueId: 0 }
    await broker.storeStartOffsets('g', [
      { mq: queue, offset: 0 },
      { mq: retry, offset: 0 },
    ])
    const topics = async (topic?: string) => {
      const target = { group: 'g', to: { kind: 'earliest' }, ...(topic && { topic }) } as const
      return (await planReset(broker, target)).map(({ mq }) => mq.topic)
    }
    expect(await topics()).toEqual(['t'])
    expect(await topics('%RETRY%g')).toEqual(['%RETRY%g'])
  })

  it('knows no group, topic or queue that there is not', async () => {
    const to = { kind: 'earliest' } as const
    await expect(planReset(broker, { group: 'g', to })).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
    await startAt(0)
    await expect(planReset(broker, { group: 'g', to, topic: 'u' })).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
    })
    await expect(planReset(broker, { group: 'g', to, queueId: 1 })).rejects.toMatchObject({
      code: 'QUEUE_NOT_FOUND',
    })
  })

  it('has nothing to do for a group that never consumed', async () => {
    await broker.admin.createGroup({ group: 'g' })
    expect(await planReset(broker, { group: 'g', to: { kind: 'earliest' } })).toEqual([])
  })
})

describe('planClone', () => {
  it('copies committed offsets, and not what was finished beyond them', async () => {
    await send(10)
    const [grant] = await joinGroup(broker, { group: 'g', clientId: 'c', topic: 't' })
    if (!grant?.granted) throw new Error('not granted')
    const commit = { mq: queue, epoch: grant.epoch, offset: 3, ahead: [[5, 8]] as const }
    expect(await broker.commitOffsets('g', 'c', [commit])).toEqual([true])
    const plans = await planClone(broker, { fromGroup: 'g', toGroup: 'h' })
    expect(plans).toEqual([{ mq: queue, from: null, to: 3, replayed: 0, skipped: 3 }])
  })

  it('has nothing where the first group never started', async () => {
    await send(10)
    await broker.admin.createGroup({ group: 'g' })
    expect(await planClone(broker, { fromGroup: 'g', toGroup: 'h', topic: 't' })).toEqual([])
  })
})
