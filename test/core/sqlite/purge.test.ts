import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Fence } from '../../../src/core/broker.ts'
import type { DeadLetter, DeadLetterState } from '../../../src/core/model/dead-letter.ts'
import { Cluster, type Engine, mq } from './engine.ts'

const queue = mq('orders', 0)
const ALL: readonly DeadLetterState[] = ['dead', 'parked', 'replayed']
let cluster: Cluster
let a: Engine
let fence: Fence

/** Keys k0, k1, k0, k1, … */
beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  await a.send('orders', 0, ...Array.from({ length: 8 }, (_, i) => ({ body: `${i}`, key: `k${i % 2}` })))
  fence = await a.own('g', 'a', queue)
})

afterEach(() => cluster.close())

async function letters(): Promise<readonly DeadLetter[]> {
  return (await a.consumption.deadLetters.list('g', { states: ALL }, { limit: 100 })).deadLetters
}

const offsets = async () => (await letters()).map(({ message }) => message.queueOffset)
const purge = (...which: readonly (DeadLetter | undefined)[]) =>
  a.consumption.deadLetters.purge(which.filter((letter) => letter !== undefined))

async function parkKey(offset: number, ...followers: number[]): Promise<void> {
  const letter = { message: a.message('orders', 0, offset), attempts: 1, lastError: 'boom' }
  await a.consumption.deadLetter(fence, [letter], null, { parkKeys: true })
  const messages = followers.map((follower) => a.message('orders', 0, follower))
  if (messages.length > 0) expect(await a.consumption.parkedKeys.park(fence, messages, null)).toBe('parked')
}

describe('what is purged', () => {
  it('is gone for good, and counted; the others stay', async () => {
    for (const offset of [0, 1, 2]) await a.deadLetter(fence, offset)
    const [first, , third] = await letters()
    expect(await purge(first, third)).toBe(2)
    expect(await offsets()).toEqual([1])
    expect(await purge(first, third)).toBe(0)
    expect(await purge()).toBe(0)
    expect((await a.consumption.audit({})).violations).toEqual([])
  })

  it('never waits in the lane: it is delivered, and purged when it is done', async () => {
    await a.deadLetter(fence, 0)
    const [dead] = await letters()
    if (dead === undefined) throw new Error('no dead letter')
    await a.consumption.deadLetters.replay(dead, {})
    const [waiting] = await letters()
    expect(await purge(waiting)).toBe(0)
    const [message] = await a.consumption.redelivery.pull(fence, 10)
    expect(message).toMatchObject({ queueOffset: 0 })
    await a.consumption.redelivery.complete(fence, [message?.redelivery?.deadLetterId ?? -1])
    expect(await purge(...(await letters()))).toBe(1)
    expect(await letters()).toEqual([])
  })

  it('is what was looked at: who died once more since has another end to be looked at', async () => {
    await a.deadLetter(fence, 0)
    const seen = await letters()
    const [dead] = seen
    if (dead === undefined) throw new Error('no dead letter')
    await a.consumption.deadLetters.replay(dead, {})
    expect(await purge(...seen)).toBe(0)
    const [message] = await a.consumption.redelivery.pull(fence, 10)
    if (message === undefined) throw new Error('nothing in the lane')
    await a.consumption.deadLetter(fence, [{ message, attempts: 2, lastError: 'again' }], null)
    expect(await purge(...seen)).toBe(0)
    expect(await letters()).toMatchObject([{ state: 'dead', replays: 1, lastError: 'again' }])
    expect(await purge(...(await letters()))).toBe(1)
  })

  it('goes to one of two that purge at once', async () => {
    for (const offset of [0, 1, 2, 3]) await a.deadLetter(fence, offset)
    const b = cluster.start()
    const all = await letters()
    const counts = await Promise.all([purge(...all), b.consumption.deadLetters.purge(all), purge(...all)])
    expect(counts.reduce((sum, n) => sum + n, 0)).toBe(4)
  })

  it('is not replayed, and a replay is not purged, whoever comes first', async () => {
    await a.deadLetter(fence, 0)
    const [dead] = await letters()
    if (dead === undefined) throw new Error('no dead letter')
    await purge(dead)
    expect(await a.consumption.deadLetters.replay(dead, {})).toEqual({
      status: 'skipped',
      reason: 'not found',
    })
    expect(await a.consumption.redelivery.pull(fence, 10)).toEqual([])
  })
})

describe('a parked key', () => {
  beforeEach(() => parkKey(0, 2, 4))

  it('stays parked while one of its letters is left', async () => {
    const [head] = await letters()
    a.notifications.length = 0
    await purge(head)
    expect(await a.consumption.parkedKeys.list(fence)).toEqual(['k0'])
    expect(a.notifications).toEqual([])
    expect((await a.consumption.audit({})).violations).toEqual([])
  })

  it('opens with the last of them, and its owners look again', async () => {
    await parkKey(1)
    const b = cluster.start()
    await b.join('g', 'b')
    a.notifications.length = 0
    b.notifications.length = 0
    await purge(...(await letters()).filter(({ message }) => message.key === 'k0'))
    expect(await a.consumption.parkedKeys.list(fence)).toEqual(['k1'])
    expect(a.notifications).toEqual([{ kind: 'redelivery', group: 'g' }])
    b.consumption.onChange('redelivery')
    expect(b.notifications).toContainEqual({ kind: 'redelivery', group: 'g' })
    expect((await a.consumption.audit({})).violations).toEqual([])
  })

  it('opens when the last of them is purged while the others are replayed', async () => {
    const [head, ...followers] = await letters()
    if (head === undefined) throw new Error('no dead letter')
    await a.consumption.deadLetters.replay(head, {})
    expect(await a.consumption.parkedKeys.list(fence)).toEqual(['k0'])
    await purge(...followers)
    expect(await a.consumption.parkedKeys.list(fence)).toEqual([])
  })

  it('of another group stays', async () => {
    const other = await a.own('h', 'other', queue)
    const letter = { message: a.message('orders', 0, 0), attempts: 1, lastError: null }
    await a.consumption.deadLetter(other, [letter], null, { parkKeys: true })
    await purge(...(await letters()))
    expect(await a.consumption.parkedKeys.list(other)).toEqual(['k0'])
  })
})
