import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocateAveragely } from '../../../src/core/client/allocate.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'

const queues = (n: number): MessageQueue[] =>
  Array.from({ length: n }, (_, queueId) => ({ topic: 'T', brokerName: 'b', queueId }))
const clients = (n: number) => Array.from({ length: n }, (_, i) => `c${String(i).padStart(3, '0')}`)
const shares = (n: number, c: number) =>
  clients(c).map((id) => allocateAveragely(queues(n), clients(c), id).map(({ queueId }) => queueId))

describe('allocateAveragely', () => {
  // RocketMQ's AllocateMessageQueueAveragely.
  it('gives contiguous blocks, the first members one more', () => {
    expect(shares(8, 3)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7],
    ])
    expect(shares(16, 5).map((share) => share.length)).toEqual([4, 3, 3, 3, 3])
    expect(shares(4, 6)).toEqual([[0], [1], [2], [3], [], []])
  })

  it('gives nothing to a client that is no member', () => {
    expect(allocateAveragely(queues(8), clients(2), 'stranger')).toEqual([])
  })

  it('gives each queue to exactly one member, sizes differing by one at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 60 }), (n, c) => {
        const all = shares(n, c)
        expect(all.flat()).toEqual(queues(n).map(({ queueId }) => queueId))
        const sizes = all.map((share) => share.length)
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      }),
    )
  })
})
