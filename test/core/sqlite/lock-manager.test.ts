import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CAREFUL_SPAN_MESSAGES } from '../../../src/core/model/limits.ts'
import { Cluster, type Engine, mq, TTL } from './engine.ts'

const queue = mq('orders', 0)
let cluster: Cluster
let a: Engine
let b: Engine

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  b = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 4 })
  await a.send('orders', 0, ...Array.from({ length: 20 }, (_, i) => ({ body: `${i}` })))
})

afterEach(() => cluster.close())

describe('lockBatch', () => {
  it('answers each queue for itself, also one that is not there', async () => {
    await a.own('g', 'a', queue)
    const grants = await b.consumption.lockBatch(
      'g',
      'b',
      [queue, mq('orders', 1), mq('orders', 9), mq('none', 0)],
      TTL,
    )
    expect(grants.map((grant) => grant.granted)).toEqual([false, true, false, false])
    expect(grants[0]).toMatchObject({
      holder: { clientId: 'a', pid: a.host.process.pid, host: 'box', state: 'alive', expiresInMs: TTL },
    })
    expect(grants[2]).toMatchObject({ holder: null })
  })

  it('keeps the epoch on renewal and raises it at every change of owner', async () => {
    expect(await a.lock('g', 'a', queue)).toMatchObject({ granted: true, epoch: 1, predecessor: 'none' })
    cluster.machine.pass(TTL / 2)
    expect(await a.lock('g', 'a', queue)).toMatchObject({ granted: true, epoch: 1, predecessor: 'same' })
    cluster.machine.pass(TTL - 1)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: false, holder: { expiresInMs: 1 } })
    await a.consumption.unlockBatch('g', 'a', [queue])
    expect(await b.lock('g', 'b', queue)).toMatchObject({
      epoch: 2,
      predecessor: 'released',
      carefulUntil: 0,
    })
    await b.consumption.unlockBatch('g', 'b', [queue])
    expect(await b.lock('g', 'b', queue)).toMatchObject({ epoch: 3, predecessor: 'released' })
  })

  it('leaves alone what the caller does not hold', async () => {
    await a.own('g', 'a', queue)
    await b.consumption.unlockBatch('g', 'b', [queue, mq('none', 0)])
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: false, holder: { clientId: 'a' } })
  })

  it('gives the lock of a killed owner at once, with care', async () => {
    const fence = await a.own('g', 'a', queue)
    await a.consumption.commitOffsets('g', 'a', [{ mq: queue, offset: 5, epoch: fence.epoch }])
    cluster.machine.kill(a.host)
    expect(await b.lock('g', 'b', queue)).toEqual({
      mq: queue,
      granted: true,
      epoch: 2,
      predecessor: 'dead',
      carefulUntil: 5 + CAREFUL_SPAN_MESSAGES,
    })
  })

  it('stays careful over a clean hand-over, until the committed offset has passed', async () => {
    await a.send('orders', 0, ...Array.from({ length: CAREFUL_SPAN_MESSAGES }, () => ({ body: 'x' })))
    await a.own('g', 'a', queue)
    cluster.machine.kill(a.host)
    const { epoch } = await b.own('g', 'b', queue)
    await b.consumption.commitOffsets('g', 'b', [{ mq: queue, offset: CAREFUL_SPAN_MESSAGES - 1, epoch }])
    await b.consumption.unlockBatch('g', 'b', [queue])
    const again = await b.lock('g', 'b', queue)
    expect(again).toMatchObject({ predecessor: 'released', carefulUntil: CAREFUL_SPAN_MESSAGES })
    const commit = { mq: queue, offset: CAREFUL_SPAN_MESSAGES, epoch: 3 }
    expect(await b.consumption.commitOffsets('g', 'b', [commit])).toEqual([true])
    expect(await b.lock('g', 'b', queue)).toMatchObject({ predecessor: 'same', carefulUntil: 0 })
  })

  it('waits for the lease of a stopped owner and then shuts it out', async () => {
    const fence = await a.own('g', 'a', queue)
    cluster.machine.pass(TTL - 1)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: false })
    cluster.machine.pass(1)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, epoch: 2, predecessor: 'expired' })
    const commit = { mq: queue, offset: 3, epoch: fence.epoch }
    expect(await a.consumption.commitOffsets('g', 'a', [commit])).toEqual([false])
    expect(await b.consumption.committedOffsets('g', 'orders')).toEqual([])
  })

  it('does not look at the wall clock', async () => {
    await a.own('g', 'a', queue)
    cluster.machine.now += 10 * TTL
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: false, holder: { expiresInMs: TTL } })
    cluster.machine.now -= 20 * TTL
    cluster.machine.monotonic += TTL
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, predecessor: 'expired' })
  })

  it('lets the lease decide when the witnesses contradict each other, and says so once', async () => {
    await a.own('g', 'a', queue)
    cluster.machine.dropLocks(a.host)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: false, holder: { state: 'unproven' } })
    await b.lock('g', 'b', queue)
    expect(b.notifications.filter(({ kind }) => kind === 'notice')).toHaveLength(1)
    cluster.machine.pass(TTL)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, predecessor: 'expired' })
  })

  it('waits for the handler of a dead owner', async () => {
    const fence = await a.own('g', 'a', queue)
    cluster.machine.running.add(4242)
    expect(await a.consumption.attempts.runsIn(fence, { pid: 4242, startTime: 's' })).toBe(true)
    cluster.machine.kill(a.host)
    await b.join('g', 'b')
    expect(await b.lock('g', 'b', queue)).toMatchObject({
      granted: false,
      holder: { state: 'handler-running' },
    })
    b.notifications.length = 0
    await b.tick()
    await b.tick()
    b.notifications.length = 0
    await b.tick()
    expect(b.notifications).toEqual([])
    cluster.machine.running.delete(4242)
    await b.tick()
    expect(b.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, epoch: 2, predecessor: 'dead' })
  })

  it('waits for that handler no longer than the lease', async () => {
    const fence = await a.own('g', 'a', queue)
    cluster.machine.running.add(4242)
    await a.consumption.attempts.runsIn(fence, { pid: 4242, startTime: 's' })
    cluster.machine.kill(a.host)
    cluster.machine.pass(TTL)
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, predecessor: 'dead' })
  })

  it('takes an owner of an earlier boot for dead, whatever its lease says', async () => {
    await a.own('g', 'a', queue)
    cluster.machine.kill(a.host)
    a.store.db.prepare(`update client set boot_id = 'before'`).run()
    a.store.db.prepare(`update queue_lock set expires_mono = 1e12`).run()
    expect(await b.lock('g', 'b', queue)).toMatchObject({ granted: true, predecessor: 'dead' })
  })

  it('does not hand the locks of a dead namesake to a client of the same id', async () => {
    const fence = await a.own('g', 'worker', queue)
    await a.consumption.attempts.start(fence, [{ offset: 0, replay: 0 }])
    cluster.machine.kill(a.host)
    await b.join('g', 'worker')
    expect(await b.lock('g', 'worker', queue)).toMatchObject({ granted: true, epoch: 2, predecessor: 'dead' })
    expect(await a.consumption.attempts.start(fence, [{ offset: 0, replay: 0 }])).toBe(false)
  })

  it('refuses a client id that another living process goes by', async () => {
    await a.own('g', 'worker', queue)
    await expect(b.lock('g', 'worker', queue)).rejects.toMatchObject({
      code: 'CLIENT_ID_IN_USE',
      why: `it lives as process ${a.host.process.pid}@box`,
    })
  })
})

describe('listLocks', () => {
  it('shows holders with proof and lease', async () => {
    await a.own('g', 'a', queue)
    await b.own('h', 'b', mq('orders', 1))
    cluster.machine.pass(1000)
    expect(await b.consumption.listLocks({ group: 'g' })).toEqual([
      {
        mq: queue,
        group: 'g',
        clientId: 'a',
        pid: a.host.process.pid,
        host: 'box',
        alive: true,
        epoch: 1,
        predecessor: 'none',
        acquiredAt: cluster.machine.now - 1000,
        renewedAt: cluster.machine.now - 1000,
        expiresAt: cluster.machine.now - 1000 + TTL,
        state: 'held',
      },
    ])
    expect(await b.consumption.listLocks()).toHaveLength(2)
    expect(await b.consumption.listLocks({ queueId: 1 })).toMatchObject([{ group: 'h' }])
    cluster.machine.pass(TTL)
    expect(await b.consumption.listLocks({ group: 'g' })).toMatchObject([{ state: 'expired', alive: true }])
    cluster.machine.kill(a.host)
    expect(await b.consumption.listLocks({ group: 'g' })).toMatchObject([{ state: 'dead', alive: false }])
  })
})

describe('releaseLocks', () => {
  it('keeps a living owner without force', async () => {
    await a.own('g', 'a', queue)
    const releases = await b.consumption.releaseLocks({ group: 'g' }, { force: false })
    expect(releases).toMatchObject([{ outcome: 'kept', lock: { clientId: 'a', state: 'held' } }])
    expect(await a.lock('g', 'a', queue)).toMatchObject({ predecessor: 'same' })
  })

  it('frees dead ones, and the next owner knows', async () => {
    await a.own('g', 'a', queue)
    cluster.machine.kill(a.host)
    const releases = await b.consumption.releaseLocks({}, { force: false })
    expect(releases).toMatchObject([{ outcome: 'released', lock: { clientId: 'a', state: 'dead' } }])
    expect(await b.consumption.listLocks()).toEqual([])
    expect(await b.lock('g', 'b', queue)).toMatchObject({ epoch: 2, predecessor: 'dead' })
  })

  it('with force raises the epoch, so that the old owner commits nothing any more', async () => {
    const fence = await a.own('g', 'a', queue)
    await b.consumption.releaseLocks({ topic: 'orders', queueId: 0 }, { force: true })
    const commit = { mq: queue, offset: 3, epoch: fence.epoch }
    expect(await a.consumption.commitOffsets('g', 'a', [commit])).toEqual([false])
    const grant = await a.lock('g', 'a', queue)
    expect(grant).toMatchObject({ epoch: 3, predecessor: 'forced', carefulUntil: CAREFUL_SPAN_MESSAGES })
    expect(await a.consumption.commitOffsets('g', 'a', [commit])).toEqual([false])
  })

  it('tells waiting members', async () => {
    await a.own('g', 'a', queue)
    await b.join('g', 'b')
    a.consumption.onChange('rebalance')
    a.notifications.length = 0
    await b.consumption.releaseLocks({}, { force: true })
    a.consumption.onChange('rebalance')
    expect(a.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
  })
})
