import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ALLOCATE_STRATEGIES,
  ALLOCATE_STRATEGY_NAMES,
  type AllocateMessageQueueStrategy,
  allocateAveragely,
  allocateByCircle,
  allocateByConfig,
} from '../../../src/core/client/allocate.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'

const queues = (n: number): MessageQueue[] =>
  Array.from({ length: n }, (_, queueId) => ({ topic: 'T', brokerName: 'b', queueId }))
const clients = (n: number) => Array.from({ length: n }, (_, i) => `c${String(i).padStart(3, '0')}`)
const shares = (allocate: AllocateMessageQueueStrategy, n: number, c: number) =>
  clients(c).map((id) => allocate(queues(n), clients(c), id).map(({ queueId }) => queueId))

describe('averagely', () => {
  // RocketMQ's AllocateMessageQueueAveragely.
  it('gives contiguous blocks, the first members one more', () => {
    expect(shares(allocateAveragely, 8, 3)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7],
    ])
    expect(shares(allocateAveragely, 16, 5)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
      [10, 11, 12],
      [13, 14, 15],
    ])
    expect(shares(allocateAveragely, 4, 6)).toEqual([[0], [1], [2], [3], [], []])
  })
})

describe('circle', () => {
  // Member i has the queues k with k % c == i.
  it('deals the queues out one by one', () => {
    expect(shares(allocateByCircle, 8, 3)).toEqual([
      [0, 3, 6],
      [1, 4, 7],
      [2, 5],
    ])
    expect(shares(allocateByCircle, 4, 6)).toEqual([[0], [1], [2], [3], [], []])
  })
})

describe('every strategy with a name', () => {
  const counts = [fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 30 })] as const

  it.each(ALLOCATE_STRATEGY_NAMES)('%s gives each queue to exactly one member', (name) => {
    fc.assert(
      fc.property(...counts, (n, c) => {
        const all = shares(ALLOCATE_STRATEGIES[name], n, c).flat()
        expect(all.sort((a, b) => a - b)).toEqual(queues(n).map(({ queueId }) => queueId))
      }),
      { numRuns: 50 },
    )
  })

  it.each(ALLOCATE_STRATEGY_NAMES)('%s gives nothing to a stranger', (name) => {
    expect(ALLOCATE_STRATEGIES[name](queues(8), clients(2), 'stranger')).toEqual([])
    expect(ALLOCATE_STRATEGIES[name](queues(8), [], 'stranger')).toEqual([])
  })

  it.each(['averagely', 'circle'] as const)('%s makes shares that differ by one at most', (name) => {
    fc.assert(
      fc.property(...counts, (n, c) => {
        const sizes = shares(ALLOCATE_STRATEGIES[name], n, c).map((share) => share.length)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 50 },
    )
  })
})

describe('by configuration', () => {
  it('answers the list, in its order, whoever else is a member', () => {
    const [first, , third] = queues(3)
    if (!first || !third) throw new Error('no queues')
    const allocate = allocateByConfig([third, first])
    expect(allocate(queues(4), clients(2), 'c001')).toEqual([third, first])
    expect(allocate(queues(4), clients(2), 'stranger')).toEqual([third, first])
  })

  it('leaves out queues of other topics, and those that are gone', () => {
    const allocate = allocateByConfig([...queues(3), { topic: 'other', brokerName: 'b', queueId: 0 }])
    expect(allocate(queues(2), ['a'], 'a')).toEqual(queues(2))
  })
})
