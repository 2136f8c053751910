import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Cluster, type Engine, mq, orderly, TTL } from './engine.ts'

let cluster: Cluster
let a: Engine
let b: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  b = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  await a.topics.create({ topic: 'bills', queues: 2 })
})

afterEach(() => cluster.close())

describe('heartbeat', () => {
  it('makes the group and its member', async () => {
    expect(await a.consumption.groupConfig('g')).toBeUndefined()
    await a.join('g', 'a')
    expect(await b.consumption.groupConfig('g')).toEqual({
      group: 'g',
      maxReconsumeTimes: -1,
      suspendMs: 1000,
      consumeEnable: true,
      trace: false,
      createdAt: cluster.machine.now,
    })
    expect(await b.consumption.listGroups()).toMatchObject([{ group: 'g' }])
    expect(await b.consumption.groupTopics('g')).toEqual(['orders'])
    expect(await b.consumption.members('g')).toEqual([
      {
        group: 'g',
        clientId: 'a',
        ...orderly('orders'),
        messageModel: 'clustering',
        allocate: 'averagely',
        process: a.host.process,
        state: 'alive',
        startedAt: cluster.machine.now,
        heartbeatAt: cluster.machine.now,
      },
    ])
  })

  it('tells the members here and there of a new one, and of nothing else', async () => {
    await a.join('g', 'a')
    await b.join('g', 'b')
    a.consumption.onChange('rebalance')
    const joined = [{ kind: 'rebalance', group: 'g' }]
    expect(b.notifications).toEqual(joined)
    expect(a.notifications).toEqual([...joined, ...joined])
    await b.join('g', 'b')
    a.consumption.onChange('rebalance')
    expect(a.notifications).toHaveLength(2)
    expect(b.notifications).toHaveLength(1)
  })

  it('tells another member in the same process', async () => {
    await a.join('g', 'a1')
    a.notifications.length = 0
    await a.join('g', 'a2')
    expect(a.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
  })

  it('refuses another mode and another expression, and leaves nothing of the refused one', async () => {
    await a.join('g', 'a')
    const refused = b.join('g', 'b', { mode: 'concurrent' })
    await expect(refused).rejects.toMatchObject({
      code: 'GROUP_CONFLICT',
      why: expect.stringMatching(/member a \(\d+@box\) is orderly; this one would be concurrent/),
    })
    await expect(b.join('g', 'b', orderly('orders', 'TagA'))).rejects.toMatchObject({
      code: 'GROUP_CONFLICT',
      why: expect.stringMatching(/wants TAG "\*"; this one wants TAG "TagA"/),
    })
    expect(await a.consumption.memberIds('g', 'orders')).toEqual(['a'])
    // Its proof of life is gone too: another process may go by that id.
    await expect(cluster.start().join('g', 'b')).resolves.toBeUndefined()
  })

  it('refuses another message model, and another strategy for a shared topic', async () => {
    await a.join('g', 'a', { allocate: 'circle' })
    await expect(
      b.join('g', 'b', { allocate: 'circle', messageModel: 'broadcasting' }),
    ).rejects.toMatchObject({
      code: 'GROUP_CONFLICT',
      why: expect.stringMatching(/member a \(\d+@box\) is clustering; this one would be broadcasting/),
    })
    await expect(b.join('g', 'b')).rejects.toMatchObject({
      code: 'GROUP_CONFLICT',
      why: expect.stringMatching(/member a \(\d+@box\) allocates circle, this one would averagely/),
      hint: expect.stringContaining('--allocate circle'),
    })
    await expect(b.join('g', 'b', orderly('bills'))).resolves.toBeUndefined()
    await expect(b.join('g', 'c', { allocate: 'circle' })).resolves.toBeUndefined()
  })

  it('lets broadcasting members allocate as they like: each has all queues', async () => {
    await a.join('g', 'a', { messageModel: 'broadcasting' })
    await b.join('g', 'b', { messageModel: 'broadcasting', allocate: 'circle' })
    expect(await a.consumption.members('g')).toMatchObject([
      { clientId: 'a', messageModel: 'broadcasting', allocate: 'averagely' },
      { clientId: 'b', messageModel: 'broadcasting', allocate: 'circle' },
    ])
  })

  it('keeps what a member tells of itself, without a rebalance', async () => {
    const status = (consumeOkTps: number) => ({
      queues: [
        {
          mq: mq('orders', 0),
          cachedMessages: 1000,
          cachedBytes: 8,
          consuming: 1,
          flowControl: 'messages' as const,
        },
      ],
      topics: [
        {
          topic: 'orders',
          pullRt: 1,
          pullTps: 2,
          consumeRt: 3,
          consumeOkTps,
          consumeFailedTps: 0,
          consumeFailedMsgs: 0,
        },
      ],
    })
    await a.join('g', 'a')
    expect((await b.consumption.members('g')).map((member) => member.status)).toEqual([undefined])
    b.notifications.length = 0
    a.notifications.length = 0
    await a.join('g', 'a', { status: status(4) })
    await a.join('g', 'a', { status: status(5) })
    b.consumption.onChange('rebalance')
    expect([...a.notifications, ...b.notifications]).toEqual([])
    expect((await b.consumption.members('g')).map((member) => member.status)).toEqual([status(5)])
    await a.join('g', 'a')
    expect((await b.consumption.members('g')).map((member) => member.status)).toEqual([undefined])
  })

  it('lets members have topics of their own', async () => {
    await a.join('g', 'a')
    await b.join('g', 'b', orderly('bills', 'TagA'))
    expect(await a.consumption.memberIds('g', 'orders')).toEqual(['a'])
    expect(await a.consumption.memberIds('g', 'bills')).toEqual(['b'])
    expect(await a.consumption.groupTopics('g')).toEqual(['bills', 'orders'])
  })

  it('does not count a dead or silent member as a conflict', async () => {
    await a.join('g', 'a')
    cluster.machine.kill(a.host)
    await b.join('g', 'b', { mode: 'concurrent' })
    cluster.machine.pass(TTL)
    const c = cluster.start()
    await c.join('g', 'c')
    // Who was silent joins anew, and finds others in another mode.
    await expect(b.join('g', 'b', { mode: 'concurrent' })).rejects.toMatchObject({ code: 'GROUP_CONFLICT' })
  })

  it('refuses a client id that lives elsewhere, and takes one whose process died', async () => {
    await a.join('g', 'worker')
    await expect(b.join('g', 'worker')).rejects.toMatchObject({ code: 'CLIENT_ID_IN_USE' })
    await expect(b.join('h', 'worker')).rejects.toMatchObject({ code: 'CLIENT_ID_IN_USE' })
    cluster.machine.kill(a.host)
    await b.join('h', 'worker')
    expect(await b.consumption.memberIds('g', 'orders')).toEqual([])
    expect(await b.consumption.members('h')).toMatchObject([{ clientId: 'worker', process: b.host.process }])
  })
})

describe('membership', () => {
  it('ends with its time, and not before', async () => {
    await a.join('g', 'a')
    cluster.machine.pass(TTL - 1)
    expect(await b.consumption.memberIds('g', 'orders')).toEqual(['a'])
    cluster.machine.pass(1)
    expect(await b.consumption.memberIds('g', 'orders')).toEqual([])
    expect(await b.consumption.members('g')).toMatchObject([{ state: 'silent' }])
    await a.join('g', 'a')
    expect(await b.consumption.memberIds('g', 'orders')).toEqual(['a'])
  })

  it('ends at once by proof of death', async () => {
    await a.join('g', 'a')
    cluster.machine.kill(a.host)
    expect(await b.consumption.memberIds('g', 'orders')).toEqual([])
    expect(await b.consumption.members('g')).toMatchObject([{ state: 'dead' }])
  })

  it('goes on while the process runs without its lock', async () => {
    await a.join('g', 'a')
    cluster.machine.dropLocks(a.host)
    expect(await b.consumption.memberIds('g', 'orders')).toEqual(['a'])
  })
})

describe('unregister', () => {
  it('leaves the group, frees the client id and tells the others', async () => {
    await a.join('g', 'a')
    await b.join('g', 'b')
    b.notifications.length = 0
    await a.consumption.unregister('g', 'a')
    b.consumption.onChange('rebalance')
    expect(b.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
    expect(await b.consumption.memberIds('g', 'orders')).toEqual(['b'])
    await expect(b.join('g', 'a')).resolves.toBeUndefined()
  })

  it('keeps the proof of life for another group, and for locks', async () => {
    await a.own('g', 'a', mq('orders', 0))
    await a.join('h', 'a')
    await a.consumption.unregister('h', 'a')
    await a.consumption.unregister('g', 'a')
    expect(await b.lock('g', 'b', mq('orders', 0))).toMatchObject({
      granted: false,
      holder: { state: 'alive' },
    })
  })
})

describe('close', () => {
  it('leaves all groups and gives up the client ids', async () => {
    await a.join('g', 'a')
    await a.join('h', 'a')
    await a.consumption.close()
    expect(await b.consumption.members('g')).toEqual([])
    expect(await b.consumption.members('h')).toEqual([])
    expect(cluster.machine.held.size).toBe(0)
    expect(b.store.db.prepare('select count(*) from client').pluck().get()).toBe(0)
  })
})
