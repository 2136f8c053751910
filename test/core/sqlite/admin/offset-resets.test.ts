import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../../src/core/broker.ts'
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
  await a.send('orders', 0, ...Array.from({ length: 10 }, (_, i) => ({ body: `m${i}`, key: `k${i % 2}` })))
})

afterEach(() => cluster.close())

const reset = (offset: number, force = false) =>
  b.consumption.admin.resetOffsets('g', [{ mq: queue, offset }], { force })

/** Owns the queue as `a` and is done with everything below `offset`. */
async function consumedTo(offset: number): Promise<Fence> {
  const fence = await a.own('g', 'a', queue)
  await a.consumption.commitOffsets('g', 'a', [{ ...fence, offset }])
  return fence
}

/** The group comes to rest, cleanly. */
async function leave(clientId = 'a', mqs = [queue]): Promise<void> {
  await a.consumption.unlockBatch('g', clientId, mqs)
  await a.consumption.unregister('g', clientId)
}

const stored = () => b.consumption.committedOffsets('g', 'orders')
const attempts = () => [...b.consumption.storedAttempts('g', b.queueRow('orders', 0), 0, 99)]
const letters = () =>
  b.store.db
    .prepare(
      `select offset, state, reset_at as resetAt, settled_at as settledAt from dead_letter order by offset`,
    )
    .all()

describe('resetOffsets', () => {
  it.each([
    ['back to the start', 0, { to: 0, replayed: 6, skipped: 0 }],
    ['back a little', 4, { to: 4, replayed: 2, skipped: 0 }],
    ['nowhere', 6, { to: 6, replayed: 0, skipped: 0 }],
    ['to the end', 10, { to: 10, replayed: 0, skipped: 4 }],
    [
      'beyond the end, where it is brought to it and never to 0',
      999_999,
      { to: 10, replayed: 0, skipped: 4 },
    ],
    ['below the start', -3, { to: 0, replayed: 6, skipped: 0 }],
  ])('moves a group %s', async (_, offset, expected) => {
    await consumedTo(6)
    await leave()
    expect(await reset(offset)).toEqual([{ mq: queue, from: 6, ...expected }])
    expect(await stored()).toMatchObject([{ mq: queue, offset: expected.to, ahead: [] }])
  })

  it('starts a group where it had no offset', async () => {
    await b.consumption.admin.createGroup({ group: 'g' })
    expect(await reset(3)).toEqual([{ mq: queue, from: null, to: 3, replayed: 0, skipped: 3 }])
    const fence = await a.own('g', 'a', queue)
    expect(await a.consumption.committedOffsets('g', 'orders')).toMatchObject([{ offset: 3 }])
    expect(await a.consumption.commitOffsets('g', 'a', [{ ...fence, offset: 4 }])).toEqual([true])
  })

  it('keeps within what retention has left', async () => {
    await consumedTo(6)
    await leave()
    a.store.db.exec('update queue set min_offset = 5 where queue_id = 0')
    expect(await reset(0)).toEqual([{ mq: queue, from: 6, to: 5, replayed: 1, skipped: 0 }])
  })

  it('forgets what was finished beyond the offset, and counts it', async () => {
    const fence = await consumedTo(2)
    await a.consumption.commitOffsets('g', 'a', [{ ...fence, offset: 2, ahead: [[4, 7]] }])
    await leave()
    expect(await reset(1)).toEqual([{ mq: queue, from: 2, to: 1, replayed: 4, skipped: 0 }])
    expect(await stored()).toMatchObject([{ offset: 1, ahead: [] }])
  })

  it('moves all queues or none', async () => {
    await consumedTo(6)
    await leave()
    const targets = [
      { mq: queue, offset: 0 },
      { mq: mq('orders', 2), offset: 0 },
    ]
    await expect(b.consumption.admin.resetOffsets('g', targets, { force: false })).rejects.toMatchObject({
      code: 'QUEUE_NOT_FOUND',
    })
    expect(await stored()).toMatchObject([{ offset: 6 }])
  })

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('refuses %d as an offset', async (offset) => {
    await consumedTo(6)
    await leave()
    await expect(reset(offset)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await stored()).toMatchObject([{ offset: 6 }])
  })

  it('refuses a queue that is named twice, and a group that there is not', async () => {
    await expect(reset(0)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
    await b.consumption.admin.createGroup({ group: 'g' })
    const twice = [
      { mq: queue, offset: 0 },
      { mq: queue, offset: 1 },
    ]
    await expect(b.consumption.admin.resetOffsets('g', twice, { force: false })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    expect(await stored()).toEqual([])
  })

  it('leaves the other queues and groups where they are', async () => {
    await consumedTo(6)
    await a.consumption.storeStartOffsets('g', [{ mq: mq('orders', 1), offset: 0 }])
    await leave()
    await a.join('h', 'h')
    await a.consumption.storeStartOffsets('h', [{ mq: queue, offset: 5 }])
    await reset(1)
    expect((await stored()).map(({ offset }) => offset)).toEqual([1, 0])
    expect(await a.consumption.committedOffsets('h', 'orders')).toMatchObject([{ offset: 5 }])
  })
})

describe('while members live', () => {
  it('is refused, names them and changes nothing', async () => {
    await consumedTo(6)
    await expect(reset(0)).rejects.toMatchObject({
      code: 'GROUP_ACTIVE',
      why: expect.stringMatching(/^1 member lives: a \(/),
      hint: expect.stringContaining('--force'),
    })
    expect(await stored()).toMatchObject([{ offset: 6 }])
  })

  it('is allowed as soon as they are provably dead', async () => {
    await consumedTo(6)
    cluster.machine.kill(a.host)
    expect(await reset(0)).toMatchObject([{ from: 6, to: 0 }])
  })

  it('takes their locks with force: a late commit is refused, and the next owner starts at the new offset', async () => {
    const fence = await consumedTo(6)
    await a.consumption.attempts.start(fence, [{ offset: 6, replay: 0 }])
    expect(await reset(2, true)).toMatchObject([{ from: 6, to: 2, replayed: 4 }])
    expect(await b.consumption.listLocks({ group: 'g' })).toEqual([])
    expect(await a.consumption.commitOffsets('g', 'a', [{ ...fence, offset: 7 }])).toEqual([false])
    expect(await a.consumption.attempts.start(fence, [{ offset: 7, replay: 0 }])).toBe(false)
    expect(await a.deadLetter(fence, 6)).toBe(false)
    expect(await stored()).toMatchObject([{ offset: 2 }])
    const again = await a.lock('g', 'a', queue)
    expect(again).toMatchObject({ granted: true, epoch: fence.epoch + 2, predecessor: 'forced' })
  })

  it('tells the members to look at their locks', async () => {
    await consumedTo(6)
    a.notifications.length = 0
    await reset(0, true)
    a.consumption.onChange('rebalance')
    expect(a.notifications).toEqual([{ kind: 'rebalance', group: 'g' }])
  })

  it('shuts out an owner that only sleeps: its late commit would undo the reset', async () => {
    const fence = await consumedTo(6)
    cluster.machine.pass(TTL)
    await reset(0)
    expect(await a.consumption.commitOffsets('g', 'a', [{ ...fence, offset: 7 }])).toEqual([false])
    expect(await stored()).toMatchObject([{ offset: 0 }])
  })

  it("leaves a dead owner's lock while its handler runs on", async () => {
    const fence = await consumedTo(6)
    const handler = cluster.machine.startProcess().process
    await a.consumption.attempts.runsIn(fence, handler)
    cluster.machine.kill(a.host)
    await reset(0)
    expect(await b.lock('g', 'b', queue)).toMatchObject({
      granted: false,
      holder: { state: 'handler-running' },
    })
  })
})

describe('attempts', () => {
  it('of live messages are forgotten, on both sides of the new offset', async () => {
    const fence = await consumedTo(4)
    const positions = [4, 5, 6].map((offset) => ({ offset, replay: 0 }))
    await a.consumption.attempts.start(fence, positions)
    await leave()
    expect(attempts()).toHaveLength(3)
    await reset(5)
    expect(attempts()).toEqual([])
  })

  it('are forgotten where the offset stays, so that a head that waits for a person is tried again', async () => {
    const fence = await consumedTo(4)
    await a.consumption.attempts.fail(fence, [
      { offset: 4, replay: 0, attempts: 3, lastError: 'boom', nextTryAt: null },
    ])
    await leave()
    expect(await b.consumption.progress('g', 'orders')).toMatchObject([{ blocked: { attempts: 3 } }, {}])
    await reset(4)
    expect(await b.consumption.progress('g', 'orders')).toMatchObject([{ blocked: null }, {}])
  })
})

describe('dead letters', () => {
  it('whose round comes again stay and say so; those below are as they were', async () => {
    const fence = await a.own('g', 'a', queue)
    for (const offset of [1, 3, 5]) await a.deadLetter(fence, offset)
    await leave()
    cluster.machine.pass(10)
    await reset(3)
    const dead = { state: 'dead', settledAt: null }
    const { now } = cluster.machine
    expect(letters()).toEqual([
      { offset: 1, ...dead, resetAt: null },
      { offset: 3, ...dead, resetAt: now },
      { offset: 5, ...dead, resetAt: now },
    ])
    expect((await b.consumption.audit({})).violations).toEqual([])
  })

  it('are one entry still when the second round dies as well', async () => {
    const fence = await a.own('g', 'a', queue)
    await a.deadLetter(fence, 3)
    await leave()
    await reset(3)
    await a.deadLetter(await a.own('g', 'a', queue), 3, 'again', 2)
    expect(letters()).toEqual([{ offset: 3, state: 'dead', resetAt: null, settledAt: null }])
    expect(await stored()).toMatchObject([{ offset: 4 }])
  })

  it('are as dead as before when the second round is skipped before it came to them', async () => {
    const fence = await a.own('g', 'a', queue)
    for (const offset of [1, 5]) await a.deadLetter(fence, offset)
    await leave()
    await reset(0)
    await consumedTo(2)
    await leave()
    await reset(10)
    expect(letters()).toMatchObject([
      { offset: 1, resetAt: cluster.machine.now },
      { offset: 5, resetAt: null },
    ])
  })

  it('leave the redelivery lane, since their original round is the replay that was asked for', async () => {
    const fence = await a.own('g', 'a', queue)
    for (const offset of [1, 5]) await a.deadLetter(fence, offset)
    const { deadLetters } = await a.consumption.deadLetters.list('g', {}, { limit: 9 })
    for (const letter of deadLetters) await a.consumption.deadLetters.replay(letter, {})
    await a.consumption.attempts.start(fence, [{ offset: 5, replay: 1 }])
    await leave()
    await reset(3)
    const { now } = cluster.machine
    expect(letters()).toEqual([
      { offset: 1, state: 'replayed', resetAt: null, settledAt: null },
      { offset: 5, state: 'replayed', resetAt: now, settledAt: now },
    ])
    expect(b.store.db.prepare('select count(*) from attempt').pluck().get()).toBe(0)
    const again = await a.own('g', 'a', queue)
    const lane = await a.consumption.redelivery.pull(again, 9)
    expect(lane.map(({ queueOffset }) => queueOffset)).toEqual([1])
  })
})

describe('a replay', () => {
  it('skips a dead letter whose round is still to come by a reset, and takes it when that round is over', async () => {
    const fence = await a.own('g', 'a', queue)
    await a.deadLetter(fence, 3)
    await leave()
    await reset(2)
    const replay = async () => {
      const { deadLetters } = await b.consumption.deadLetters.list('g', {}, { limit: 1 })
      if (deadLetters[0] === undefined) throw new Error('no dead letter')
      expect(deadLetters[0].resetAt).toBe(cluster.machine.now)
      return await b.consumption.deadLetters.replay(deadLetters[0], {})
    }
    expect(await replay()).toEqual({
      status: 'skipped',
      reason: 'comes again in its queue, by a reset of offsets',
    })
    await consumedTo(4)
    expect(await replay()).toMatchObject({ status: 'replayed', queueOffset: 3 })
  })
})

describe('parked keys', () => {
  /** Message 0 of key k0 is dead, 2 and 4 followed it. */
  async function park(): Promise<void> {
    const fence = await a.own('g', 'a', queue)
    const letter = { message: a.message('orders', 0, 0), attempts: 1, lastError: 'boom' }
    await a.consumption.deadLetter(fence, [letter], 1, { parkKeys: true })
    const followers = [2, 4].map((offset) => a.message('orders', 0, offset))
    expect(await a.consumption.parkedKeys.park(fence, followers, 5)).toBe('parked')
    await leave()
  }
  const parked = async () => a.consumption.parkedKeys.list(await a.own('g', 'a', queue))

  it('reopen when all their messages come again', async () => {
    await park()
    await reset(0)
    expect(await parked()).toEqual([])
  })

  it('stay parked while an earlier message of theirs stays dead', async () => {
    await park()
    await reset(3)
    expect(await parked()).toEqual(['k0'])
    expect(letters()).toMatchObject([
      { offset: 0, state: 'dead', resetAt: null },
      { offset: 2, state: 'parked', resetAt: null },
      { offset: 4, state: 'parked', resetAt: cluster.machine.now },
    ])
  })
})

describe('scheduled retries', () => {
  const retryQueue = mq(retryTopicOf('g'), 0)
  const delayed = () => b.store.db.prepare('select count(*) from delayed_message').pluck().get()

  async function sendBack(fence: Fence, offset: number): Promise<void> {
    const failure = { message: a.message('orders', 0, offset), attempts: 1, lastError: null, delayMs: 1000 }
    await a.consumption.sendBack(fence, [failure])
  }

  it('of messages that come again do not come as well', async () => {
    const fence = await ownConcurrently(a, 'g', 'a')
    for (const offset of [1, 5]) await sendBack(fence, offset)
    expect(delayed()).toBe(2)
    await leave()
    await reset(3)
    expect(delayed()).toBe(1)
  })

  it('that wait in the retry topic already are passed there, and its owner loses the lock', async () => {
    const fence = await ownConcurrently(a, 'g', 'a')
    for (const offset of [1, 5]) await sendBack(fence, offset)
    moveDue()
    const grant = await a.lock('g', 'a', retryQueue)
    expect(grant.granted).toBe(true)
    await reset(3, true)
    expect(await b.consumption.committedOffsets('g', retryQueue.topic)).toMatchObject([
      { offset: 0, ahead: [[1, 2]] },
    ])
    expect(await b.consumption.listLocks({ group: 'g' })).toEqual([])
    expect((await b.consumption.audit({})).violations).toEqual([])
  })

  it('of messages that do not come again stay where they are', async () => {
    const fence = await ownConcurrently(a, 'g', 'a')
    await sendBack(fence, 1)
    await leave()
    await reset(10)
    expect(delayed()).toBe(1)
  })

  /** Puts the delayed messages into the retry queue, as they are when they are due. */
  function moveDue(): void {
    const row = a.queueRow(retryQueue.topic, 0)
    a.store.db.exec(`
      insert into message_${row} (offset, stored, age, key, tags, keys, properties, body)
        select row_number() over (order by id) - 1, born, 0, key, tags, keys, properties, body from delayed_message;
      update queue set max_offset = (select count(*) from delayed_message) where id = ${row};
      delete from delayed_message`)
  }
})

describe('a broadcasting group', () => {
  it('is refused, also with force: its members would not look at what is written', async () => {
    await a.join('g', 'a', { messageModel: 'broadcasting' })
    await expect(reset(0, true)).rejects.toMatchObject({ code: 'GROUP_CONFLICT' })
    expect(await stored()).toEqual([])
  })

  it('is refused when nobody lives, as long as only its clients have offsets', async () => {
    await a.join('g', 'a', { messageModel: 'broadcasting' })
    const row = a.queueRow('orders', 0)
    a.store.db.exec(`insert into broadcast_offset values (1, 'a', ${row}, 4, 0)`)
    await a.consumption.unregister('g', 'a')
    await expect(reset(0)).rejects.toMatchObject({
      code: 'GROUP_CONFLICT',
      why: 'its client keeps its own offsets',
    })
  })
})
