import { describe, expect, it } from 'vitest'
import { PerKeyProcessQueue } from '../../../src/core/client/per-key-process-queue.ts'
import { message, offsets, oneMore, replayed } from './cached-messages.ts'

function queueOf(keys: string): PerKeyProcessQueue {
  const queue = new PerKeyProcessQueue()
  queue.putMessages(
    [...keys].map((key, offset) => message(offset, { key })),
    keys.length,
  )
  return queue
}

describe('a queue of keys with replayed messages', () => {
  it('lets no live message start while they are not all here', () => {
    const queue = queueOf('ab')
    queue.putRedeliveries([replayed(0, 7, { key: 'b' })], false)
    const replay = queue.takeMessages(1)
    expect(replay[0]?.message.redelivery).toBeDefined()
    expect([queue.hasWaiting, queue.needsRedeliveries, queue.redeliveredCount]).toEqual([false, true, 1])
    queue.putRedeliveries([replayed(0, 7, { key: 'b' })], true)
    expect(queue.needsRedeliveries).toBe(false)
    expect(offsets(queue.takeMessages(1))).toEqual([0])
    // Its key is running.
    expect(queue.hasWaiting).toBe(false)
  })

  it('keeps one that failed paused while the lane is read anew', () => {
    const queue = new PerKeyProcessQueue()
    const [first, second] = [replayed(0, 7, { key: 'a' }), replayed(1, 8, { key: 'a' })]
    queue.putRedeliveries([first])
    const batch = queue.takeMessages(1)
    queue.makeMessageToConsumeAgain(batch, oneMore)
    queue.putRedeliveries([first, second])
    expect(queue.hasWaiting).toBe(false)
    queue.resume(batch)
    expect(offsets(queue.takeMessages(1))).toEqual([0])
  })

  it('is not resumed by the end of a pause before the last one', () => {
    const queue = queueOf('a')
    const once = queue.takeMessages(1)
    queue.makeMessageToConsumeAgain(once, oneMore)
    queue.putRedeliveries([replayed(0, 7, { key: 'a' })])
    queue.commit(queue.takeMessages(1))
    const twice = queue.takeMessages(1)
    queue.makeMessageToConsumeAgain(twice, oneMore)
    queue.resume(once)
    expect(queue.hasWaiting).toBe(false)
    queue.resume(twice)
    expect(queue.hasWaiting).toBe(true)
  })
})
