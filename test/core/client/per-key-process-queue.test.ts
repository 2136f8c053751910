import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PerKeyProcessQueue } from '../../../src/core/client/per-key-process-queue.ts'
import type { Batch } from '../../../src/core/client/process-queue.ts'
import { message, offsets, oneMore, replayed } from './cached-messages.ts'

const keyed = (keys: string) => [...keys].map((key, offset) => message(offset, { key }))

function queueOf(keys: string): PerKeyProcessQueue {
  const queue = new PerKeyProcessQueue()
  queue.putMessages(keyed(keys), keys.length)
  return queue
}

describe('PerKeyProcessQueue', () => {
  it('runs keys beside each other, and each in order', () => {
    const queue = queueOf('aab')
    const a = queue.takeMessages(1)
    const b = queue.takeMessages(1)
    expect([offsets(a), offsets(b)]).toEqual([[0], [2]])
    expect(queue.hasWaiting).toBe(false)
    expect(queue.takeMessages(1)).toEqual([])
    queue.commit(a)
    expect(offsets(queue.takeMessages(1))).toEqual([1])
  })

  it('commits the first unfinished message', () => {
    const queue = queueOf('abc')
    const [a, b, c] = [queue.takeMessages(1), queue.takeMessages(1), queue.takeMessages(1)]
    expect(queue.commit(b)).toEqual({ lane: 'live', nextOffset: 0 })
    expect(queue.ahead).toEqual([[1, 2]])
    expect(queue.commit(a)).toEqual({ lane: 'live', nextOffset: 2 })
    expect(queue.commit(c)).toEqual({ lane: 'live', nextOffset: 3 })
  })

  it('holds only the key that failed, until it is resumed', () => {
    const queue = queueOf('aabb')
    const a = queue.takeMessages(1)
    queue.makeMessageToConsumeAgain(a, oneMore)
    const b = queue.takeMessages(1)
    expect(offsets(b)).toEqual([2])
    queue.commit(b)
    expect(offsets(queue.takeMessages(1))).toEqual([3])
    expect(queue.hasWaiting).toBe(false)
    queue.resume(a)
    const again = queue.takeMessages(9)
    expect(again.map(({ message: m, attempts }) => [m.queueOffset, attempts, m.reconsumeTimes])).toEqual([
      [0, 1, 1],
    ])
  })

  it('lets replayed messages of a key pass in front of its live ones', () => {
    const queue = queueOf('ab')
    queue.putRedeliveries([replayed(0, 7, { key: 'b' })])
    const taken = [queue.takeMessages(1), queue.takeMessages(1)]
    expect(taken.map(offsets).sort()).toEqual([[0], [0]])
    const replay = taken.find(([entry]) => entry?.message.redelivery) as Batch
    expect(queue.commit(replay)).toEqual({ lane: 'redelivery', deadLetterIds: [7] })
    expect(offsets(queue.takeMessages(1))).toEqual([1])
  })

  it('does not take a replayed message twice when the lane is read anew while it runs', () => {
    const queue = new PerKeyProcessQueue()
    const letter = replayed(3, 7, { key: 'a' })
    queue.putRedeliveries([letter])
    queue.takeMessages(1)
    queue.putRedeliveries([letter])
    expect(queue.msgCount).toBe(1)
    expect(queue.hasWaiting).toBe(false)
  })

  it('keeps messages without a key in order among themselves', () => {
    const queue = new PerKeyProcessQueue()
    queue.putMessages([message(0), message(1)], 2)
    queue.takeMessages(1)
    expect(queue.hasWaiting).toBe(false)
  })

  it('leaves out what is done with, and still knows it', () => {
    const queue = new PerKeyProcessQueue({ skip: [[1, 3]] })
    queue.putMessages(keyed('abcd'), 4)
    expect(queue.msgCount).toBe(2)
    expect(queue.ahead).toEqual([[1, 3]])
    const a = queue.takeMessages(1)
    expect(queue.commit(a)).toEqual({ lane: 'live', nextOffset: 3 })
  })

  it('keeps order per key, one run a key, and loses nothing, whatever fails', () => {
    const scenario = fc.record({
      keys: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 120 }),
      steps: fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { minLength: 1, maxLength: 600 }),
    })
    fc.assert(
      fc.property(scenario, ({ keys, steps }) => {
        const queue = new PerKeyProcessQueue()
        queue.putMessages(
          keys.map((key, offset) => message(offset, { key: `k${key}` })),
          keys.length,
        )
        const running: Batch[] = []
        const pausing: Batch[] = []
        const lastOf = new Map<string, number>()
        let done = 0
        const settle = (batch: Batch) => {
          for (const { message: m } of batch) {
            expect(m.queueOffset).toBeGreaterThan(lastOf.get(m.key ?? '') ?? -1)
            lastOf.set(m.key ?? '', m.queueOffset)
          }
          done += batch.length
          queue.commit(batch)
        }
        for (const [what, which] of steps) {
          if (what < 4 && queue.hasWaiting) {
            const batch = queue.takeMessages(1 + (which % 3))
            const key = batch[0]?.message.key
            expect(batch.every((entry) => entry.message.key === key)).toBe(true)
            expect(running.some(([entry]) => entry?.message.key === key)).toBe(false)
            running.push(batch)
          } else if (what < 7 && running.length > 0) {
            settle(running.splice(which % running.length, 1)[0] as Batch)
          } else if (what < 9 && running.length > 0) {
            const batch = running.splice(which % running.length, 1)[0] as Batch
            queue.makeMessageToConsumeAgain(batch, oneMore)
            pausing.push(batch)
          } else if (pausing.length > 0) {
            queue.resume(pausing.shift() as Batch)
          }
          expect(queue.msgCount).toBe(keys.length - done)
        }
        for (const batch of running) settle(batch)
        for (const batch of pausing) queue.resume(batch)
        while (queue.hasWaiting) settle(queue.takeMessages(4))
        expect(done).toBe(keys.length)
        expect(queue.msgSize).toBe(0)
        expect(queue.ahead).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})
