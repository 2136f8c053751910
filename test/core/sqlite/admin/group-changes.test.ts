import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { retryTopicOf } from '../../../../src/core/model/names.ts'
import { Cluster, type Engine, mq, TTL } from '../engine.ts'
import { ownConcurrently } from './retry-topic.ts'

const queue = mq('orders', 0)
let cluster: Cluster
let a: Engine
let b: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  b = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
})

afterEach(() => cluster.close())

describe('createGroup', () => {
  it('makes a group with the defaults of one that a consumer makes', async () => {
    const made = await a.consumption.admin.createGroup({ group: 'g' })
    expect(made).toEqual({
      group: 'g',
      maxReconsumeTimes: -1,
      suspendMs: 1000,
      consumeEnable: true,
      trace: false,
      createdAt: cluster.machine.now,
    })
    await b.join('by-consumer', 'b')
    expect(await b.consumption.groupConfig('by-consumer')).toEqual({ ...made, group: 'by-consumer' })
  })

  it('stores every setting, and the first consumer finds them', async () => {
    const settings = { maxReconsumeTimes: 0, suspendMs: 0, consumeEnable: false, trace: true }
    await a.consumption.admin.createGroup({ group: 'g', ...settings })
    await b.join('g', 'b')
    expect(await b.consumption.groupConfig('g')).toMatchObject(settings)
  })

  it('refuses a name that is taken, also by a group that a consumer made', async () => {
    await b.join('g', 'b')
    await expect(a.consumption.admin.createGroup({ group: 'g' })).rejects.toMatchObject({
      code: 'GROUP_EXISTS',
    })
  })

  it.each(['', 'a b', 'a.b', '../x', 'g\n', 'x'.repeat(256), 'CID_RMQ_SYS_x', 'TOOLS_CONSUMER'])(
    'refuses the name %j',
    async (group) => {
      await expect(a.consumption.admin.createGroup({ group })).rejects.toMatchObject({ code: 'INVALID_NAME' })
      expect(await a.consumption.listGroups()).toEqual([])
    },
  )

  it.each([
    { maxReconsumeTimes: -2 },
    { maxReconsumeTimes: 1.5 },
    { maxReconsumeTimes: 2 ** 31 },
    { suspendMs: -1 },
    { suspendMs: Number.NaN },
    { suspendMs: 86_400_001 },
  ])('refuses the settings %j', async (settings) => {
    await expect(a.consumption.admin.createGroup({ group: 'g', ...settings })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await a.consumption.groupConfig('g')).toBeUndefined()
  })
})

describe('alterGroup', () => {
  it('changes what was said and nothing else', async () => {
    const before = await a.consumption.admin.createGroup({ group: 'g', suspendMs: 7, trace: true })
    cluster.machine.pass(10)
    const after = await a.consumption.admin.alterGroup('g', { maxReconsumeTimes: 3 })
    expect(after).toEqual({ ...before, maxReconsumeTimes: 3 })
    expect(await b.consumption.groupConfig('g')).toEqual(after)
    await a.consumption.admin.alterGroup('g', { maxReconsumeTimes: -1, trace: false })
    expect(await b.consumption.groupConfig('g')).toEqual({ ...before, trace: false })
  })

  it('says that there is no such group, and refuses what a group cannot have', async () => {
    await expect(a.consumption.admin.alterGroup('g', { trace: true })).rejects.toMatchObject({
      code: 'GROUP_NOT_FOUND',
    })
    await a.consumption.admin.createGroup({ group: 'g' })
    await expect(a.consumption.admin.alterGroup('g', { suspendMs: -1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await a.consumption.groupConfig('g')).toMatchObject({ suspendMs: 1000 })
  })
})

describe('a disabled group', () => {
  beforeEach(async () => {
    await a.own('g', 'a', queue)
    await b.join('g', 'b')
    await b.consumption.admin.alterGroup('g', { consumeEnable: false })
  })

  it('has no members that queues are allocated to, until it is enabled', async () => {
    expect(await a.consumption.memberIds('g', 'orders')).toEqual([])
    await b.consumption.admin.alterGroup('g', { consumeEnable: true })
    expect([...(await a.consumption.memberIds('g', 'orders'))].sort()).toEqual(['a', 'b'])
  })

  it('gives no lock, and renews the one under which a handler still ends', async () => {
    expect(await b.lock('g', 'b', mq('orders', 1))).toEqual({
      mq: mq('orders', 1),
      granted: false,
      holder: null,
    })
    expect(await a.lock('g', 'a', queue)).toMatchObject({ granted: true, epoch: 1, predecessor: 'same' })
    await a.consumption.unlockBatch('g', 'a', [queue])
    expect(await a.lock('g', 'a', queue)).toMatchObject({ granted: false })
    await b.consumption.admin.alterGroup('g', { consumeEnable: true })
    expect(await a.lock('g', 'a', queue)).toMatchObject({ granted: true, epoch: 2 })
  })

  it('tells its members to allocate again, and once why there is nothing', async () => {
    const notices = () => a.notifications.flatMap((one) => (one.kind === 'notice' ? [one.text] : []))
    a.notifications.length = 0
    a.consumption.onChange('rebalance')
    expect(a.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
    await a.consumption.memberIds('g', 'orders')
    await a.consumption.memberIds('g', 'orders')
    expect(notices()).toEqual([expect.stringContaining('rmq groups alter g --consume-enable')])
    await b.consumption.admin.alterGroup('g', { consumeEnable: true })
    await a.consumption.memberIds('g', 'orders')
    await a.consumption.memberIds('g', 'orders')
    expect(notices().slice(1)).toEqual(['group g is enabled again'])
  })

  it('leaves other groups alone', async () => {
    await b.own('h', 'b', queue)
    expect(await b.consumption.memberIds('h', 'orders')).toEqual(['b'])
  })
})

describe('deleteGroup', () => {
  /** Rows of a table that belong to the group. */
  const rows = (table: string) =>
    a.store.db.prepare(`select count(*) from ${table} where group_id = 1`).pluck().get()
  const TABLES = ['consumer_offset', 'attempt', 'dead_letter', 'queue_lock', 'member', 'parked_key']

  async function leaveState(): Promise<void> {
    await a.send('orders', 0, { body: 'x', key: 'k' }, { body: 'y', key: 'k' })
    const fence = await a.own('g', 'a', queue)
    await a.consumption.deadLetter(
      fence,
      [{ message: a.message('orders', 0, 0), attempts: 1, lastError: 'boom' }],
      1,
      { parkKeys: true },
    )
    await a.consumption.attempts.start(fence, [{ offset: 1, replay: 0 }])
  }

  it('takes everything of the group with it, and nothing of others', async () => {
    await leaveState()
    await b.own('h', 'b', mq('orders', 1))
    await b.consumption.storeStartOffsets('h', [{ mq: queue, offset: 2 }])
    for (const table of TABLES) expect([table, rows(table)]).toEqual([table, 1])
    cluster.machine.kill(a.host)
    await b.consumption.admin.deleteGroup('g')
    for (const table of TABLES) expect([table, rows(table)]).toEqual([table, 0])
    expect(await b.consumption.listGroups()).toMatchObject([{ group: 'h' }])
    expect(await b.consumption.committedOffsets('h', 'orders')).toMatchObject([{ offset: 2 }])
    expect((await b.consumption.members('h')).map(({ clientId }) => clientId)).toEqual(['b'])
    expect((await b.consumption.audit({})).violations).toEqual([])
  })

  it('takes its retry topic, and what is delayed on its way there', async () => {
    await b.send('orders', 0, { body: 'x' })
    const fence = await ownConcurrently(b, 'g', 'b')
    const failure = { message: b.message('orders', 0, 0), attempts: 1, lastError: null, delayMs: 1000 }
    await b.consumption.sendBack(fence, [failure])
    const delayed = () => b.store.db.prepare('select count(*) from delayed_message').pluck().get()
    expect(b.topics.find(retryTopicOf('g'))).toBeDefined()
    expect(delayed()).toBe(1)
    await b.consumption.unlockBatch('g', 'b', [queue])
    await b.consumption.unregister('g', 'b')
    const tables = () =>
      b.store.db
        .prepare(`select count(*) from sqlite_schema where name like 'message\\_%' escape '\\'`)
        .pluck()
        .get()
    expect(tables()).toBe(3)
    await b.consumption.admin.deleteGroup('g')
    expect(b.topics.find(retryTopicOf('g'))).toBeUndefined()
    expect(delayed()).toBe(0)
    expect(tables()).toBe(2)
  })

  it('leaves nothing behind for a group that is made anew under its name', async () => {
    await leaveState()
    await a.consumption.unlockBatch('g', 'a', [queue])
    await a.consumption.unregister('g', 'a')
    await a.consumption.admin.deleteGroup('g')
    await a.own('g', 'a', queue)
    expect(await a.consumption.committedOffsets('g', 'orders')).toEqual([])
    expect(await a.consumption.deadLetters.count('g', {})).toEqual(new Map([['g', 0]]))
  })

  it('is refused while a member lives, and names it', async () => {
    await a.join('g', 'a')
    await expect(b.consumption.admin.deleteGroup('g')).rejects.toMatchObject({
      code: 'GROUP_ACTIVE',
      why: expect.stringMatching(/^1 member lives: a \(/),
      details: { group: 'g', members: [{ clientId: 'a', pid: a.host.process.pid }] },
    })
    expect(await b.consumption.groupConfig('g')).toBeDefined()
  })

  it('is refused while the owner of a lock lives that is no member any more', async () => {
    await a.own('g', 'a', queue)
    await a.consumption.unregister('g', 'a')
    await expect(b.consumption.admin.deleteGroup('g')).rejects.toMatchObject({ code: 'GROUP_ACTIVE' })
    cluster.machine.pass(TTL)
    await b.consumption.admin.deleteGroup('g')
    expect(await b.consumption.listGroups()).toEqual([])
  })

  it('shuts out a member that slept through it: its commit is refused', async () => {
    await a.send('orders', 0, { body: 'x' })
    const { epoch } = await a.own('g', 'a', queue)
    cluster.machine.pass(TTL)
    await b.consumption.admin.deleteGroup('g')
    expect(await a.consumption.commitOffsets('g', 'a', [{ mq: queue, offset: 1, epoch }])).toEqual([false])
    await b.join('g', 'b')
    expect(await a.consumption.commitOffsets('g', 'a', [{ mq: queue, offset: 1, epoch }])).toEqual([false])
  })

  it('forgets the group in the process that deletes it', async () => {
    await b.consumption.admin.createGroup({ group: 'g' })
    await b.consumption.storeStartOffsets('g', [{ mq: queue, offset: 0 }])
    await b.consumption.admin.deleteGroup('g')
    await expect(b.consumption.storeStartOffsets('g', [{ mq: queue, offset: 0 }])).rejects.toMatchObject({
      code: 'GROUP_NOT_FOUND',
    })
  })

  it('says that there is no such group', async () => {
    await expect(a.consumption.admin.deleteGroup('g')).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  })
})
