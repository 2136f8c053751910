import { afterEach, describe, expect, it, vi } from 'vitest'
import { openFile } from '../../../src/core/sqlite/open.ts'
import { DelayedMessages } from '../../../src/core/sqlite/tables/delayed-messages.ts'
import { DelayedWorld } from './delayed-world.ts'
import { mq } from './engine.ts'

const SECOND = 1000
const MANY = 100_000

afterEach(() => vi.restoreAllMocks())

/** In one statement, since sending them takes seconds. */
function storeMany(world: DelayedWorld, dueAt: number): void {
  const { db } = openFile({ path: world.path, durability: 'normal', create: false, runtime: world.clock })
  db.prepare<{ many: number; dueAt: number }>(
    `insert into delayed_message (due_at, queue_id, born, properties, body)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < @many)
     select @dueAt + i, (select id from queue), 0, '{"UNIQ_KEY":"x"}', x'' from n`,
  ).run({ many: MANY, dueAt })
  db.close()
}

describe('100,000 delayed messages', () => {
  it('cost a resting process one read when something changed, and none while nothing does', async () => {
    const world = new DelayedWorld()
    const sender = world.start()
    await sender.createTopic({ topic: 'orders', queues: 1 })
    await sender.admin.createGroup({ group: 'g' })
    await sender.close()
    storeMany(world, world.clock.now() + 3_600 * SECOND)

    const resting = world.startListener()
    await world.pass(SECOND)
    expect(await resting.progress('g', 'orders')).toMatchObject([{ scheduled: MANY, maxOffset: 0 }])
    const reads = [
      vi.spyOn(DelayedMessages.prototype, 'firstDue'),
      vi.spyOn(DelayedMessages.prototype, 'due'),
      vi.spyOn(DelayedMessages.prototype, 'count'),
    ]
    const calls = () => reads.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
    const timers = world.clock.waiting
    await world.pass(120 * SECOND)
    expect(calls()).toBe(0)
    expect(world.clock.waiting).toBe(timers)

    // Its own look after the wake-up, and one more when the poll sees the change of another process.
    const other = world.start()
    await other.send([{ mq: mq('orders', 0), messages: [{ topic: 'orders', body: 'at once' }] }])
    await world.pass(120 * SECOND)
    expect(calls()).toBeGreaterThan(0)
    expect(calls()).toBeLessThanOrEqual(2)
  })

  it('are found by an index, whatever is asked of them', () => {
    const world = new DelayedWorld()
    const { db } = openFile({ path: world.path, durability: 'normal', create: true, runtime: world.clock })
    const queries: string[] = []
    const recorded = new Proxy(db, {
      get: (target, name) =>
        name === 'prepare'
          ? (sql: string) => {
              queries.push(sql)
              return target.prepare(sql)
            }
          : Reflect.get(target, name),
    })
    new DelayedMessages(recorded)
    const plans = queries
      .filter((sql) => !/^\s*insert/.test(sql) && sql.includes('delayed_message'))
      .map((sql) => {
        const values = Array.from(sql.matchAll(/\?/g), () => 1)
        const steps = db.prepare<number[], { detail: string }>(`explain query plan ${sql}`).all(...values)
        return { sql, steps: steps.map(({ detail }) => detail).join('; ') }
      })
    db.close()
    expect(plans.length).toBeGreaterThanOrEqual(4)
    for (const { sql, steps } of plans) {
      if (sql.includes('sqlite_sequence')) continue
      expect(steps, sql).toMatch(/SEARCH delayed_message USING/)
      expect(steps, sql).not.toMatch(/SCAN|TEMP B-TREE/)
    }
  })
})

it('large messages that are due together are moved a few at a time, not all of them in memory', async () => {
  const world = new DelayedWorld()
  let commits = 0
  const wakeUp = { touch: () => void commits++, watch: () => () => {}, close: () => {} }
  const broker = world.startListener({ wakeUp })
  await broker.createTopic({ topic: 'orders', queues: 1 })
  // The largest bodies there are.
  const bodies = ['a', 'b', 'c', 'd', 'e'].map((letter) => Buffer.alloc(4 * 1024 * 1024, letter))
  const messages = bodies.map((body) => ({ topic: 'orders', body, delayMs: SECOND }))
  await broker.send([{ mq: mq('orders', 0), messages }])
  commits = 0
  await world.pass(2 * SECOND)
  expect(commits).toBeGreaterThanOrEqual(3)
  const stored = await world.stored(broker)
  expect(stored.map(({ body }) => body[0])).toEqual(bodies.map(([letter]) => letter))
  expect(stored.map(({ body }) => body.length)).toEqual(bodies.map(({ length }) => length))
})
