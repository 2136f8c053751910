import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OrderlyProcessQueue } from '../../../src/core/client/orderly-process-queue.ts'
import type { Batch } from '../../../src/core/client/process-queue.ts'
import { message, offsets, oneMore, replayed, same } from './cached-messages.ts'

describe('OrderlyProcessQueue', () => {
  it('hands out what was put, in order, and commits past it', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages(
      [0, 1, 2].map((offset) => message(offset)),
      3,
    )
    const batch = queue.takeMessages(2)
    expect(offsets(batch)).toEqual([0, 1])
    expect(queue.commit(batch)).toEqual({ lane: 'live', nextOffset: 2 })
    expect(offsets(queue.takeMessages(5))).toEqual([2])
  })

  it('puts a batch back in front of what waits', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages(
      [0, 1, 2, 3].map((offset) => message(offset)),
      4,
    )
    queue.makeMessageToConsumeAgain(queue.takeMessages(2), oneMore)
    const again = queue.takeMessages(4)
    // 2 and 3 have not failed: they do not share a batch with those that have.
    expect(
      again.map(({ message: { queueOffset, reconsumeTimes }, attempts }) => [
        queueOffset,
        attempts,
        reconsumeTimes,
      ]),
    ).toEqual([
      [0, 1, 1],
      [1, 1, 1],
    ])
  })

  it('refuses to take while a batch is unsettled, and to commit what was not taken', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages([message(0), message(1)], 2)
    expect(() => queue.commit([{ message: message(0), attempts: 0 }])).toThrow()
    queue.takeMessages(1)
    expect(() => queue.takeMessages(1)).toThrow()
  })

  it('leaves out what was put before', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages([message(0), message(1)], 2)
    queue.putMessages([message(1), message(2)], 3)
    expect(offsets(queue.takeMessages(9))).toEqual([0, 1, 2])
  })

  it('passes what the filter dropped behind the last message, once that is done', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages([message(0), message(2)], 5)
    expect(queue.commit(queue.takeMessages(1))).toEqual({ lane: 'live', nextOffset: 1 })
    expect(queue.commit(queue.takeMessages(1))).toEqual({ lane: 'live', nextOffset: 5 })
  })

  it('lets replayed messages pass in front, in a batch of their own', () => {
    const queue = new OrderlyProcessQueue()
    queue.putMessages([message(7), message(8)], 9)
    queue.putRedeliveries([replayed(2, 11), replayed(4, 12)])
    const batch = queue.takeMessages(9)
    expect(offsets(batch)).toEqual([2, 4])
    expect(queue.commit(batch)).toEqual({ lane: 'redelivery', deadLetterIds: [11, 12] })
    expect(offsets(queue.takeMessages(9))).toEqual([7, 8])
  })

  it('leaves out what is done with already', () => {
    const queue = new OrderlyProcessQueue({ skip: [[1, 3]] })
    queue.putMessages(
      [0, 1, 2, 3].map((offset) => message(offset)),
      4,
    )
    expect(offsets(queue.takeMessages(9))).toEqual([0, 3])
  })

  it('keeps a batch to one key where keys are parked', () => {
    const queue = new OrderlyProcessQueue({ byKey: true })
    queue.putMessages([message(0, { key: 'a' }), message(1, { key: 'a' }), message(2, { key: 'b' })], 3)
    expect(offsets(queue.takeMessages(9))).toEqual([0, 1])
  })

  describe('with manual commit', () => {
    const held = (...sizes: readonly number[]) => {
      const queue = new OrderlyProcessQueue()
      queue.putMessages(
        Array.from({ length: 10 }, (_, offset) => message(offset)),
        10,
      )
      for (const size of sizes) queue.hold(queue.takeMessages(size))
      return queue
    }

    it('commits everything taken so far, batches before included', () => {
      const queue = held(2, 1)
      expect(queue.consuming).toBe(3)
      expect(queue.commit(queue.takeMessages(1))).toEqual({ lane: 'live', nextOffset: 4 })
      expect(queue.consuming).toBe(0)
    })

    it('rolls back to the last commit, and no further', () => {
      const queue = held(2)
      queue.commit(queue.takeMessages(1))
      queue.hold(queue.takeMessages(1))
      expect(queue.rollback(queue.takeMessages(2))).toBe(3)
      expect(offsets(queue.takeMessages(9))).toEqual([3, 4, 5, 6, 7, 8, 9])
    })

    it('puts back only the batch that failed', () => {
      const queue = held(2)
      queue.makeMessageToConsumeAgain(queue.takeMessages(2), same)
      expect(offsets(queue.takeMessages(2))).toEqual([2, 3])
    })

    it('counts what is not committed as cached', () => {
      expect(held(3).msgCount).toBe(10)
    })
  })

  it('keeps count and size of what waits and what is taken through any sequence of operations', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), n: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('take' as const), n: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ kind: fc.constant('settle' as const), ok: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const queue = new OrderlyProcessQueue()
        let put = 0
        let committed = 0
        let batch: Batch = []
        for (const step of operations) {
          if (step.kind === 'put') {
            const more = Array.from({ length: step.n }, (_, i) => message(put + i))
            put += step.n
            queue.putMessages(more, put)
          } else if (step.kind === 'take' && queue.consuming === 0) {
            batch = queue.takeMessages(step.n)
            const taken = offsets(batch)
            expect(taken).toEqual(taken.map((_, i) => committed + i))
          } else if (step.kind === 'settle' && queue.consuming > 0) {
            if (!step.ok) queue.makeMessageToConsumeAgain(batch, same)
            else {
              const passed = queue.commit(batch)
              expect(passed.lane).toBe('live')
              if (passed.lane === 'live') committed = passed.nextOffset
            }
          }
          expect(queue.msgCount).toBe(put - committed)
          if (queue.consuming === 0) expect(queue.msgSize).toBe(2 * (put - committed))
        }
      }),
    )
  })
})
