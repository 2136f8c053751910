import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Retention } from '../../../src/core/sqlite/retention.ts'
import { BarrierTable } from '../../../src/core/sqlite/tables/barriers.ts'
import { OldMessages } from '../../../src/core/sqlite/tables/old-messages.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const HOUR = 3_600_000

let cluster: Cluster
let engine: Engine
let retention: Retention
beforeEach(async () => {
  cluster = new Cluster()
  onTestFinished(() => cluster.close())
  engine = cluster.start()
  retention = new Retention(engine.store, {
    messages: new OldMessages(engine.store.db),
    barriers: new BarrierTable(engine.store.db),
  })
  await engine.topics.create({ topic: 'orders', queues: 1, retentionMs: HOUR })
})

const queue = mq('orders', 0)
const send = (count: number) =>
  engine.send('orders', 0, ...Array.from({ length: count }, (_, i) => ({ body: `${i}` })))
const bounds = () => {
  const [stats] = engine.topics.stats('orders')
  return [stats?.minOffset, stats?.maxOffset]
}
/** Time passes, and everything that may go goes. */
async function later(ms: number): Promise<void> {
  cluster.machine.pass(ms)
  for (let i = 0; i < 20; i++) await retention.tick()
}

describe('messages older than the retention time', () => {
  it('go, and newer ones stay', async () => {
    await send(3)
    await later(HOUR - 1)
    expect(bounds()).toEqual([0, 3])
    await send(2)
    await later(10_000)
    expect(bounds()).toEqual([3, 5])
    expect(engine.message('orders', 0, 3)).toMatchObject({ queueOffset: 3 })
    expect(() => engine.message('orders', 0, 2)).toThrow()
    expect((await engine.consumption.audit({})).violations).toEqual([])
  })

  it('go in steps, and offsets go on behind them', async () => {
    await send(1200)
    cluster.machine.pass(2 * HOUR)
    await retention.tick()
    expect(bounds()).toEqual([500, 1200])
    await later(0)
    expect(bounds()).toEqual([1200, 1200])
    await send(1)
    expect(bounds()).toEqual([1200, 1201])
  })

  it('stay while a group is not done with them', async () => {
    await send(3)
    const fence = await engine.own('g', 'c', queue)
    await engine.consumption.commitOffsets('g', 'c', [{ ...fence, offset: 1 }])
    await engine.join('slow', 'd')
    await later(2 * HOUR)
    expect(bounds()).toEqual([0, 3])
    await engine.consumption.storeStartOffsets('slow', [{ mq: queue, offset: 2 }])
    await later(10_000)
    expect(bounds()).toEqual([1, 3])
  })

  it('stay where the topic keeps all', async () => {
    await engine.topics.create({ topic: 'bills', queues: 1 })
    await engine.send('bills', 0, { body: 'x' })
    await later(1000 * HOUR)
    expect(engine.topics.stats('bills')).toMatchObject([{ minOffset: 0, maxOffset: 1 }])
  })

  it('take a barrier with them when they were all that lay before it', async () => {
    await send(1)
    await engine.consumption.admin.alterTopic('orders', { queues: 2 })
    const barriers = () => engine.store.db.prepare('select count(*) from barrier').pluck().get()
    expect(barriers()).toBe(1)
    await later(2 * HOUR)
    expect(barriers()).toBe(0)
  })
})
