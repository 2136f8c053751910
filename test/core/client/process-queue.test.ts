import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProcessQueue } from '../../../src/core/client/process-queue.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'

const message = (queueOffset: number, more: Partial<MessageExt> = {}): MessageExt => ({
  msgId: `id-${queueOffset}`,
  topic: 'T',
  brokerName: 'b',
  queueId: 0,
  queueOffset,
  key: null,
  keys: [],
  tags: null,
  properties: {},
  body: Buffer.from('ab'),
  bornTimestamp: 0,
  storeTimestamp: 0,
  reconsumeTimes: 0,
  ...more,
})
const replayed = (queueOffset: number, deadLetterId: number) =>
  message(queueOffset, { redelivery: { deadLetterId, replay: 1 } })
const offsets = (entries: readonly { message: MessageExt }[]) =>
  entries.map((entry) => entry.message.queueOffset)

describe('ProcessQueue', () => {
  it('hands out what was put, in order, and commits past it', () => {
    const queue = new ProcessQueue()
    queue.putMessages(
      [0, 1, 2].map((offset) => message(offset)),
      3,
    )
    expect(offsets(queue.takeMessages(2))).toEqual([0, 1])
    expect(queue.commit()).toEqual({ lane: 'live', nextOffset: 2 })
    expect(offsets(queue.takeMessages(5))).toEqual([2])
  })

  it('puts a batch back in front of what waits', () => {
    const queue = new ProcessQueue()
    queue.putMessages(
      [0, 1, 2, 3].map((offset) => message(offset)),
      4,
    )
    queue.takeMessages(2)
    queue.makeMessageToConsumeAgain((entry) => entry.attempts + 1)
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
    const queue = new ProcessQueue()
    queue.putMessages([message(0), message(1)], 2)
    expect(() => queue.commit()).toThrow()
    queue.takeMessages(1)
    expect(() => queue.takeMessages(1)).toThrow()
  })

  it('leaves out what was put before', () => {
    const queue = new ProcessQueue()
    queue.putMessages([message(0), message(1)], 2)
    queue.putMessages([message(1), message(2)], 3)
    expect(offsets(queue.takeMessages(9))).toEqual([0, 1, 2])
  })

  it('passes what the filter dropped behind the last message, once that is done', () => {
    const queue = new ProcessQueue()
    queue.putMessages([message(0), message(2)], 5)
    queue.takeMessages(1)
    expect(queue.commit()).toEqual({ lane: 'live', nextOffset: 1 })
    queue.takeMessages(1)
    expect(queue.commit()).toEqual({ lane: 'live', nextOffset: 5 })
  })

  it('lets replayed messages pass in front, in a batch of their own', () => {
    const queue = new ProcessQueue()
    queue.putMessages([message(7), message(8)], 9)
    queue.putRedeliveries([replayed(2, 11), replayed(4, 12)])
    expect(offsets(queue.takeMessages(9))).toEqual([2, 4])
    expect(queue.commit()).toEqual({ lane: 'redelivery', deadLetterIds: [11, 12] })
    expect(offsets(queue.takeMessages(9))).toEqual([7, 8])
  })

  it('keeps count and size of what waits and what is taken through any sequence of operations', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('put' as const), n: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('take' as const), n: fc.integer({ min: 1, max: 50 }) }),
      fc.record({ kind: fc.constant('settle' as const), ok: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const queue = new ProcessQueue()
        let put = 0
        let committed = 0
        for (const step of operations) {
          if (step.kind === 'put') {
            const more = Array.from({ length: step.n }, (_, i) => message(put + i))
            put += step.n
            queue.putMessages(more, put)
          } else if (step.kind === 'take' && !queue.isConsuming) {
            const taken = offsets(queue.takeMessages(step.n))
            expect(taken).toEqual(taken.map((_, i) => committed + i))
          } else if (step.kind === 'settle' && queue.isConsuming) {
            if (!step.ok) queue.makeMessageToConsumeAgain((entry) => entry.attempts)
            else {
              const passed = queue.commit()
              expect(passed.lane).toBe('live')
              if (passed.lane === 'live') committed = passed.nextOffset
            }
          }
          expect(queue.msgCount).toBe(put - committed)
          if (!queue.isConsuming) expect(queue.msgSize).toBe(2 * (put - committed))
        }
      }),
    )
  })
})
