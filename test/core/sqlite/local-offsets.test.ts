import { afterEach, beforeEach, expect, it } from 'vitest'
import type { MemberHeartbeat } from '../../../src/core/model/group.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const broadcasting: Partial<MemberHeartbeat> = { messageModel: 'broadcasting' }
let cluster: Cluster
let a: Engine
let b: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  b = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  for (const queueId of [0, 1])
    await a.send('orders', queueId, ...Array.from({ length: 10 }, () => ({ body: 'x' })))
  await a.join('g', 'one', broadcasting)
  await b.join('g', 'two', broadcasting)
})

afterEach(() => cluster.close())

const commit = (engine: Engine, clientId: string, queueId: number, offset: number) =>
  engine.consumption.commitLocalOffsets('g', clientId, [{ mq: mq('orders', queueId), offset }])
const offsets = async (clientId: string, engine = a) =>
  (await engine.consumption.localOffsets('g', clientId, 'orders')).map(({ mq, offset }) => [
    mq.queueId,
    offset,
  ])

it('are each client its own', async () => {
  await commit(a, 'one', 0, 4)
  await commit(b, 'two', 0, 7)
  await commit(b, 'two', 1, 1)
  expect(await offsets('one', b)).toEqual([[0, 4]])
  expect(await offsets('two')).toEqual([
    [0, 7],
    [1, 1],
  ])
  expect(await offsets('three')).toEqual([])
  expect(await a.consumption.localOffsets('g', 'one', 'bills')).toEqual([])
  expect(await a.consumption.localOffsets('other', 'one', 'orders')).toEqual([])
  expect(await a.consumption.committedOffsets('g', 'orders')).toEqual([])
})

it('only grow, and end where the queue does', async () => {
  await commit(a, 'one', 0, 4)
  await commit(a, 'one', 0, 3)
  expect(await offsets('one')).toEqual([[0, 4]])
  await commit(a, 'one', 0, 99)
  expect(await offsets('one')).toEqual([[0, 10]])
})

it('outlive the client, so that a restart goes on there', async () => {
  await commit(a, 'one', 0, 4)
  await a.consumption.unregister('g', 'one')
  cluster.machine.kill(a.host)
  const again = cluster.start()
  await again.join('g', 'one', broadcasting)
  expect(await offsets('one', again)).toEqual([[0, 4]])
})

it('need a group, and pass over queues that are not there', async () => {
  await expect(
    a.consumption.commitLocalOffsets('nobody', 'one', [{ mq: mq('orders', 0), offset: 1 }]),
  ).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  await a.consumption.commitLocalOffsets('g', 'one', [
    { mq: mq('orders', 9), offset: 1 },
    { mq: mq('gone', 0), offset: 1 },
    { mq: mq('orders', 1), offset: 2 },
  ])
  expect(await offsets('one')).toEqual([[1, 2]])
})

it('of a topic that was made anew start anew', async () => {
  await commit(a, 'one', 0, 4)
  for (const [engine, clientId] of [[a, 'one'] as const, [b, 'two'] as const]) {
    await engine.consumption.unregister('g', clientId)
  }
  await b.consumption.admin.deleteTopic('orders')
  await b.topics.create({ topic: 'orders', queues: 1 })
  await b.send('orders', 0, { body: 'new' })
  expect(await offsets('one')).toEqual([])
  await commit(a, 'one', 0, 1)
  expect(await offsets('one', b)).toEqual([[0, 1]])
})

it('show as progress of the group: what all are done with, by nobody alone', async () => {
  await commit(a, 'one', 0, 4)
  await commit(b, 'two', 0, 7)
  const [first, second] = await a.consumption.progress('g')
  expect(first).toMatchObject({ committedOffset: 4, lag: 6, owner: null })
  expect(second).toMatchObject({ committedOffset: null, lag: 10, owner: null })
})

it('keep the topic among those of the group when nobody is there', async () => {
  await commit(a, 'one', 0, 4)
  await a.consumption.unregister('g', 'one')
  await b.consumption.unregister('g', 'two')
  expect(await a.consumption.groupTopics('g')).toEqual(['orders'])
})
