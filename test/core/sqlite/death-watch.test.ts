import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Cluster, type Engine, mq, TTL } from './engine.ts'

let cluster: Cluster
let engines: Engine[]
const ids = ['a', 'b', 'c', 'd']

beforeEach(async () => {
  cluster = new Cluster()
  engines = ids.map(() => cluster.start())
  await engine(0).topics.create({ topic: 'orders', queues: 2 })
  for (const [i, id] of ids.entries()) await engine(i).join('g', id)
  for (const each of engines) forget(each)
})

afterEach(() => cluster.close())

function engine(i: number): Engine {
  const found = engines[i]
  if (found === undefined) throw new Error(`no engine ${i}`)
  return found
}

function forget(each: Engine): void {
  each.consumption.onChange('rebalance')
  each.notifications.length = 0
}

const members = () => engine(0).store.db.prepare('select client_id from member order by 1').pluck().all()
const clients = () => engine(0).store.db.prepare('select client_id from client order by 1').pluck().all()

describe('tick', () => {
  it('looks at one neighbour only', async () => {
    cluster.machine.probes = 0
    for (const each of engines) await each.tick()
    expect(cluster.machine.probes).toBe(ids.length)
  })

  it('notices the death of the next client in the ring, tells all, and clears up', async () => {
    cluster.machine.kill(engine(1).host)
    await engine(0).tick()
    expect(members()).toEqual(['a', 'c', 'd'])
    expect(clients()).toEqual(['a', 'c', 'd'])
    expect(engine(0).notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
    engine(3).consumption.onChange('rebalance')
    expect(engine(3).notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
  })

  it('has the last one look at the first', async () => {
    cluster.machine.kill(engine(0).host)
    await engine(3).tick()
    expect(members()).toEqual(['b', 'c', 'd'])
  })

  it('goes on behind dead neighbours until it meets a living one', async () => {
    for (const i of [1, 2, 3]) cluster.machine.kill(engine(i).host)
    for (let tick = 0; tick < 3; tick++) await engine(0).tick()
    expect(members()).toEqual(['a'])
  })

  it('keeps the row of a dead client while a lock refers to it', async () => {
    const queue = mq('orders', 0)
    await engine(1).own('g', 'b', queue)
    cluster.machine.kill(engine(1).host)
    await engine(0).tick()
    expect(members()).toEqual(['a', 'c', 'd'])
    expect(await engine(0).consumption.listLocks()).toMatchObject([{ clientId: 'b', state: 'dead' }])
    expect(await engine(0).lock('g', 'a', queue)).toMatchObject({ granted: true, predecessor: 'dead' })
    expect(clients()).toEqual(['a', 'c', 'd'])
  })

  it('does not bury a process whose witnesses contradict each other', async () => {
    cluster.machine.dropLocks(engine(1).host)
    await engine(0).tick()
    await engine(0).tick()
    expect(members()).toEqual(ids)
    expect(engine(0).notifications).toMatchObject([{ kind: 'notice' }])
  })

  it('does not bury a namesake that came to life', async () => {
    cluster.machine.kill(engine(1).host)
    const heir = cluster.start()
    await heir.join('g', 'b')
    forget(engine(0))
    await engine(0).tick()
    expect(members()).toEqual(ids)
    expect(await heir.consumption.memberIds('g', 'orders')).toEqual(ids)
  })

  it('takes silent members out when their time is over', async () => {
    for (const i of [0, 1, 3]) {
      cluster.machine.pass(TTL / 4)
      await engine(i).join('g', ids[i] as string)
    }
    forget(engine(0))
    cluster.machine.pass(TTL / 4)
    await engine(0).tick()
    expect(members()).toEqual(['a', 'b', 'd'])
    expect(engine(0).notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
  })

  it('says once that it cannot look, and not at all after the end', async () => {
    engine(0).store.db.prepare(`alter table member rename to gone`).run()
    await engine(0).tick()
    await engine(0).tick()
    const notices = engine(0).notifications.filter(({ kind }) => kind === 'notice')
    expect(notices).toHaveLength(1)
    engine(0).store.db.prepare(`alter table gone rename to member`).run()
    await engine(0).consumption.close()
    await engine(0).tick()
    expect(engine(0).notifications.filter(({ kind }) => kind === 'notice')).toHaveLength(1)
  })
})
