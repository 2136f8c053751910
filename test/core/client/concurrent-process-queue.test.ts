import { describe, expect, it } from 'vitest'
import { ConcurrentProcessQueue } from '../../../src/core/client/concurrent-process-queue.ts'
import { message, offsets, oneMore, replayed } from './cached-messages.ts'

function queueOf(count: number, skip: readonly (readonly [number, number])[] = []): ConcurrentProcessQueue {
  const queue = new ConcurrentProcessQueue({ skip })
  queue.putMessages(
    Array.from({ length: count }, (_, offset) => message(offset)),
    count,
  )
  return queue
}

describe('ConcurrentProcessQueue', () => {
  it('hands out everything at once, and commits the lowest that is pending', () => {
    const queue = queueOf(5)
    const [first, second] = [queue.takeMessages(2), queue.takeMessages(3)]
    expect(queue.commit(second)).toEqual({ lane: 'live', nextOffset: 0 })
    expect(queue.ahead).toEqual([[2, 5]])
    expect(queue.msgCount).toBe(2)
    expect(queue.commit(first)).toEqual({ lane: 'live', nextOffset: 5 })
    expect(queue.ahead).toEqual([])
  })

  it('settles a part of a batch', () => {
    const queue = queueOf(3)
    const batch = queue.takeMessages(3)
    expect(queue.commit(batch.slice(0, 1))).toEqual({ lane: 'live', nextOffset: 1 })
    expect(queue.commit(batch.slice(1))).toEqual({ lane: 'live', nextOffset: 3 })
  })

  it('brings a batch that could not be sent back again when it is resumed, and not before', () => {
    const queue = queueOf(2)
    const batch = queue.takeMessages(1)
    queue.makeMessageToConsumeAgain(batch, oneMore)
    expect(offsets(queue.takeMessages(9))).toEqual([1])
    expect(queue.hasWaiting).toBe(false)
    expect(queue.msgCount).toBe(2)
    queue.resume(batch)
    expect(queue.takeMessages(9).map(({ attempts }) => attempts)).toEqual([1])
  })

  it('leaves out what is done with, and goes past it', () => {
    const queue = queueOf(4, [[1, 3]])
    const batch = queue.takeMessages(1)
    expect(offsets(queue.takeMessages(9))).toEqual([3])
    expect(queue.commit(batch)).toEqual({ lane: 'live', nextOffset: 3 })
  })

  it('says how far the last cached message is beyond the first unfinished one', () => {
    const queue = new ConcurrentProcessQueue()
    queue.putMessages([message(0), message(2500)], 2501)
    expect(queue.span).toBe(2500)
    queue.commit(queue.takeMessages(1))
    expect(queue.span).toBe(0)
  })

  it('lets replayed messages pass in front, each once', () => {
    const queue = queueOf(1)
    const letter = replayed(0, 9)
    queue.putRedeliveries([letter])
    const batch = queue.takeMessages(1)
    queue.putRedeliveries([letter])
    expect(queue.hasRedeliveries).toBe(false)
    expect(queue.commit(batch)).toEqual({ lane: 'redelivery', deadLetterIds: [9] })
    expect(queue.msgCount).toBe(1)
  })
})
