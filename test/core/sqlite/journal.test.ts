import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../src/core/broker.ts'
import type { Delivery } from '../../../src/core/model/delivery.ts'
import { StoredJournal } from '../../../src/core/sqlite/journal.ts'
import { Places } from '../../../src/core/sqlite/places.ts'
import { Deliveries } from '../../../src/core/sqlite/tables/deliveries.ts'
import { Groups } from '../../../src/core/sqlite/tables/groups.ts'
import { QueueLocks } from '../../../src/core/sqlite/tables/queue-locks.ts'
import { Queues } from '../../../src/core/sqlite/tables/queues.ts'
import { Topics } from '../../../src/core/sqlite/tables/topics.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const queue = mq('orders', 1)
let cluster: Cluster
let a: Engine
let fence: Fence

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  fence = await a.own('g', 'a', queue)
})

afterEach(() => cluster.close())

function delivery(queueOffset: number, event: Delivery['event'], more: Partial<Delivery> = {}): Delivery {
  const msgId = `${'0'.repeat(31)}${queueOffset.toString(16).toUpperCase()}`
  return { event, msgId, queueOffset, replay: 0, attempt: 1, error: null, at: 1000, ...more }
}

/** A journal of the same file with bounds that a test can reach. */
function bounded(deliveriesMax: number, pruneStep: number): StoredJournal {
  const { db } = a.store
  const queues = new Queues(db, new Topics(db))
  const places = new Places(new Groups(db), queues, new QueueLocks(db))
  return new StoredJournal(a.store, places, new Deliveries(db), { deliveriesMax, pruneStep })
}

const stored = () =>
  a.store.db.prepare('select offset, run, ordering from delivery order by id').raw().all() as unknown[][]

describe('the journal', () => {
  it('gives back what happened to a message, in that order, and under which lock', async () => {
    const { journal } = a.consumption
    const started = delivery(7, 'started', { at: 1000 })
    const failed = delivery(7, 'failed', { at: 1005, error: 'no route' })
    const again = delivery(7, 'started', { at: 2000, attempt: 2 })
    const replayed = delivery(7, 'succeeded', { at: 9000, attempt: 1, replay: 3 })
    for (const one of [started, delivery(8, 'started'), failed, again, replayed]) {
      await journal.record(fence, [one], 'queue')
    }
    const place = { group: 'g', mq: queue, clientId: 'a', epoch: fence.epoch }
    const entries = [started, failed, again, replayed].map((one) => ({ ...one, ...place }))
    expect(await journal.read(started.msgId)).toEqual(entries)
    expect(await cluster.start().consumption.journal.read(started.msgId.toLowerCase(), 'g')).toEqual(entries)
    expect(await journal.read(started.msgId, 'h')).toEqual([])
    expect(await journal.read('FF')).toEqual([])
  })

  it('keeps groups apart', async () => {
    const other = await a.own('h', 'b', queue)
    await a.consumption.journal.record(fence, [delivery(1, 'started')], 'queue')
    await a.consumption.journal.record(other, [delivery(1, 'parked')], 'key')
    const { msgId } = delivery(1, 'started')
    expect((await a.consumption.journal.read(msgId)).map(({ group }) => group)).toEqual(['g', 'h'])
    expect((await a.consumption.journal.read(msgId, 'h')).map(({ event }) => event)).toEqual(['parked'])
  })

  it('takes what happened under a lock that is lost: it happened', async () => {
    const stale = { ...fence, epoch: fence.epoch - 1 }
    await a.consumption.journal.record(stale, [delivery(1, 'succeeded')], 'queue')
    const [entry] = await a.consumption.journal.read(delivery(1, 'succeeded').msgId)
    expect(entry).toMatchObject({ epoch: fence.epoch - 1, event: 'succeeded' })
  })

  it('knows the messages of a batch as one run', async () => {
    const batch = [1, 2, 3].map((offset) => delivery(offset, 'started'))
    await a.consumption.journal.record(fence, batch, 'queue')
    await a.consumption.journal.record(fence, [delivery(4, 'started')], 'key')
    expect(stored()).toEqual([
      [1, 1, 'queue'],
      [2, 1, 'queue'],
      [3, 1, 'queue'],
      [4, 4, 'key'],
    ])
    await a.consumption.journal.record(fence, [], 'queue')
    expect(stored()).toHaveLength(4)
  })

  it('keeps the end of a long error, as dead letters do', async () => {
    const error = `${'é'.repeat(3000)} at the end`
    await a.consumption.journal.record(fence, [delivery(1, 'failed', { error })], 'none')
    const [entry] = await a.consumption.journal.read(delivery(1, 'failed').msgId)
    expect(Buffer.byteLength(entry?.error ?? '')).toBeLessThanOrEqual(2048)
    expect(entry?.error).toMatch(/^é+ at the end$/)
  })

  it('goes with its group, and with its topic, and records nothing of what is gone', async () => {
    const other = await a.own('h', 'b', queue)
    for (const one of [fence, other])
      await a.consumption.journal.record(one, [delivery(1, 'started')], 'queue')
    await a.consumption.unlockBatch('g', 'a', [queue])
    await a.consumption.unregister('g', 'a')
    await a.consumption.admin.deleteGroup('g')
    const { msgId } = delivery(1, 'started')
    expect((await a.consumption.journal.read(msgId)).map(({ group }) => group)).toEqual(['h'])
    await a.consumption.journal.record(fence, [delivery(1, 'succeeded')], 'queue')
    await a.consumption.unlockBatch('h', 'b', [queue])
    await a.consumption.unregister('h', 'b')
    await a.consumption.admin.deleteTopic('orders')
    await a.consumption.journal.record(other, [delivery(1, 'succeeded')], 'queue')
    expect(stored()).toEqual([])
  })
})

describe('a full journal', () => {
  it('keeps the newest', async () => {
    const journal = bounded(5, 2)
    for (let offset = 0; offset < 12; offset++)
      await journal.record(fence, [delivery(offset, 'started')], 'queue')
    expect(stored().map(([offset]) => offset)).toEqual([7, 8, 9, 10, 11])
  })

  it('loses at most a step of old ones with a record, or as many as come', async () => {
    const large = bounded(100, 2)
    for (let offset = 0; offset < 10; offset++)
      await large.record(fence, [delivery(offset, 'started')], 'queue')
    const journal = bounded(3, 2)
    await journal.record(fence, [delivery(10, 'started')], 'queue')
    expect(stored().map(([offset]) => offset)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    const batch = [11, 12, 13, 14].map((offset) => delivery(offset, 'started'))
    await journal.record(fence, batch, 'queue')
    expect(stored().map(([offset]) => offset)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14])
  })
})
