import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../src/core/broker.ts'
import { LAST_ERROR_BYTES_MAX } from '../../../src/core/model/limits.ts'
import { Cluster, type Engine, mq, TTL } from './engine.ts'

const queue = mq('orders', 0)
let cluster: Cluster
let a: Engine
let fence: Fence

beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  await a.send('orders', 0, ...Array.from({ length: 10 }, (_, i) => ({ body: `${i}` })))
  fence = await a.own('g', 'a', queue)
})

afterEach(() => cluster.close())

const commit = (offset: number, epoch = fence.epoch, client = 'a') =>
  a.consumption.commitOffsets('g', client, [{ mq: queue, offset, epoch }])
const committed = async () =>
  (await a.consumption.committedOffsets('g', 'orders')).map(({ offset }) => offset)
const stored = () => Object.fromEntries(a.consumption.storedAttempts('g', a.queueRow('orders', 0), 0, 100))

describe('commitOffsets', () => {
  it('moves up only, and never beyond the end of the queue', async () => {
    expect(await commit(4)).toEqual([true])
    expect(await commit(2)).toEqual([true])
    expect(await committed()).toEqual([4])
    expect(await commit(99)).toEqual([true])
    expect(await committed()).toEqual([10])
  })

  it('refuses what has no lock, another epoch or another client', async () => {
    expect(await commit(4, fence.epoch + 1)).toEqual([false])
    expect(await commit(4, fence.epoch, 'b')).toEqual([false])
    await a.consumption.unlockBatch('g', 'a', [queue])
    expect(await commit(4)).toEqual([false])
    expect(await a.consumption.commitOffsets('none', 'a', [{ mq: queue, offset: 1, epoch: 1 }])).toEqual([
      false,
    ])
    expect(await committed()).toEqual([])
  })

  it('answers each of several for itself', async () => {
    const other = await a.own('g', 'a', mq('orders', 1))
    const commits = [
      { mq: queue, offset: 1, epoch: fence.epoch },
      { mq: mq('orders', 1), offset: 0, epoch: other.epoch + 1 },
      { mq: mq('gone', 0), offset: 0, epoch: 1 },
    ]
    expect(await a.consumption.commitOffsets('g', 'a', commits)).toEqual([true, false, false])
  })

  it('refuses a lower offset of a stale owner as well', async () => {
    await commit(4)
    expect(await commit(2, fence.epoch + 1)).toEqual([false])
  })
})

describe('storeStartOffsets', () => {
  it('sets an offset only where there is none', async () => {
    await a.consumption.storeStartOffsets('g', [{ mq: queue, offset: 3 }])
    await a.consumption.storeStartOffsets('g', [
      { mq: queue, offset: 7 },
      { mq: mq('orders', 1), offset: 5 },
    ])
    expect(await committed()).toEqual([3, 0])
  })
})

describe('attempts', () => {
  it('count from their start, and survive the owner', async () => {
    await a.consumption.attempts.start(fence, [{ offset: 0, replay: 0 }])
    cluster.machine.kill(a.host)
    const b = cluster.start()
    const heir = await b.own('g', 'b', queue)
    await b.consumption.attempts.start(heir, [{ offset: 0, replay: 0 }])
    expect(stored()).toEqual({ 0: 2 })
  })

  it('do nothing under a stale fence', async () => {
    const stale = { ...fence, epoch: fence.epoch + 1 }
    const { attempts } = a.consumption
    const position = { offset: 0, replay: 0 }
    expect(await attempts.start(stale, [position])).toBe(false)
    await attempts.start(fence, [position])
    const failure = { ...position, attempts: 5, lastError: 'x', nextTryAt: null }
    expect(await attempts.fail(stale, [failure])).toBe(false)
    expect(await attempts.release(stale, [position])).toBe(false)
    expect(await attempts.runsIn(stale, { pid: 1, startTime: 's' })).toBe(false)
    expect(stored()).toEqual({ 0: 1 })
  })

  it('that do not count are taken back', async () => {
    const position = { offset: 3, replay: 0 }
    const { attempts } = a.consumption
    await attempts.start(fence, [position])
    await attempts.release(fence, [position])
    expect(stored()).toEqual({})
    await attempts.fail(fence, [{ ...position, attempts: 1, lastError: 'x', nextTryAt: null }])
    await attempts.start(fence, [position])
    await attempts.release(fence, [position])
    // Nothing runs: there is no start to take back.
    await attempts.release(fence, [position])
    expect(stored()).toEqual({ 3: 1 })
  })

  it('take the count of a failure, also when the start was not stored', async () => {
    await a.consumption.attempts.fail(fence, [
      { offset: 0, replay: 0, attempts: 3, lastError: 'x', nextTryAt: 1.5 },
      { offset: 1, replay: 0, attempts: 3, lastError: 'x', nextTryAt: null },
    ])
    expect(stored()).toEqual({ 0: 3, 1: 3 })
  })

  it('keep the end of a long error, and no half character', async () => {
    const lastError = `${'ä'.repeat(LAST_ERROR_BYTES_MAX)}the cause`
    await a.consumption.attempts.fail(fence, [
      { offset: 0, replay: 0, attempts: 1, lastError, nextTryAt: null },
    ])
    const [progress] = await a.consumption.progress('g')
    const kept = progress?.blocked?.lastError ?? ''
    expect(kept).toMatch(/^ä+the cause$/)
    expect(Buffer.byteLength(kept)).toBe(LAST_ERROR_BYTES_MAX - 1)
  })

  it('end when the offset passes them', async () => {
    const positions = [0, 1, 2].map((offset) => ({ offset, replay: 0 }))
    await a.consumption.attempts.start(fence, positions)
    await commit(2)
    expect(stored()).toEqual({ 2: 1 })
  })
})

describe('progress', () => {
  it('counts lag from the committed offset, or from the start', async () => {
    expect(await a.consumption.progress('g')).toMatchObject([
      { mq: queue, minOffset: 0, committedOffset: null, maxOffset: 10, lag: 10, owner: 'a', blocked: null },
      { mq: mq('orders', 1), lag: 0, owner: null },
    ])
    await commit(4)
    expect(await a.consumption.progress('g')).toMatchObject([{ committedOffset: 4, lag: 6 }, { lag: 0 }])
  })

  it('shows the head that fails', async () => {
    await commit(2)
    const failure = {
      offset: 2,
      replay: 0,
      attempts: 3,
      lastError: 'boom',
      nextTryAt: cluster.machine.now + 5,
    }
    await a.consumption.attempts.fail(fence, [failure])
    const [progress] = await a.consumption.progress('g', 'orders')
    expect(progress?.blocked).toEqual({
      msgId: a.message('orders', 0, 2).msgId,
      key: null,
      queueOffset: 2,
      attempts: 3,
      lastError: 'boom',
      nextTryAt: cluster.machine.now + 5,
    })
    await commit(3)
    expect(await a.consumption.progress('g')).toMatchObject([{ blocked: null }, {}])
  })

  it('does not take a first run for a failure', async () => {
    await a.consumption.attempts.start(fence, [{ offset: 0, replay: 0 }])
    expect(await a.consumption.progress('g')).toMatchObject([{ blocked: null }, {}])
  })

  it('names what is not there', async () => {
    await expect(a.consumption.progress('none')).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
    await expect(a.consumption.progress('g', 'none')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    await expect(a.consumption.groupTopics('none')).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' })
  })

  it('keeps what was consumed among the topics of the group', async () => {
    await commit(1)
    await a.consumption.unlockBatch('g', 'a', [queue])
    await a.consumption.unregister('g', 'a')
    cluster.machine.pass(TTL)
    expect(await a.consumption.groupTopics('g')).toEqual(['orders'])
  })
})
