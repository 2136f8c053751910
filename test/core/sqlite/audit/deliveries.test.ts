import { describe, expect, it } from 'vitest'
import type { Fence } from '../../../../src/core/broker.ts'
import type { Violation } from '../../../../src/core/model/audit.ts'
import type { DeliveryEvent, DeliveryOrdering } from '../../../../src/core/model/delivery.ts'
import { AuditedStore, mq } from './store.ts'

/** What happened to a message, or to a batch in one run; the last number is the attempt (default 1). */
type Step = readonly [event: DeliveryEvent, offsets: number | readonly number[], attempt?: number]

/** A queue with 20 messages, keys a and b in turn; two owners took turns: epoch 1 was `first`, epoch 2 is `second`. */
class TracedStore {
  readonly store: AuditedStore
  readonly first: Fence
  readonly second: Fence
  ordering: DeliveryOrdering = 'queue'

  private constructor(store: AuditedStore, first: Fence, second: Fence) {
    this.store = store
    this.first = first
    this.second = second
  }

  static async open(): Promise<TracedStore> {
    const store = await AuditedStore.open()
    const { broker } = store
    await broker.createTopic({ topic: 'orders', queues: 1 })
    const messages = Array.from({ length: 20 }, (_, i) => ({
      topic: 'orders',
      body: `${i}`,
      key: 'ab'.charAt(i % 2),
    }))
    await broker.send([{ mq: mq('orders', 0), messages }])
    const first = await store.own('g', 'orderly', 'orders')
    await broker.unlockBatch('g', first.clientId, [first.mq])
    const second = await store.lock('g', 'second', 'orders')
    return new TracedStore(store, first, second)
  }

  async record(fence: Fence, records: readonly Step[], replay = 0): Promise<void> {
    for (const [event, offsets, attempt = 1] of records) {
      const deliveries = [offsets].flat().map((queueOffset: number) => ({
        ...{ event, queueOffset, replay, attempt, msgId: `M${queueOffset}`, error: null, at: 1 },
      }))
      await this.store.broker.journal?.record(fence, deliveries, this.ordering)
    }
  }
}

const place = { topic: 'orders', queueId: 0, group: 'g' }
/** One message from its start to its success. */
const done = (offset: number, attempt = 1): Step[] => [
  ['started', offset, attempt],
  ['succeeded', offset, attempt],
]

describe('a journal that shows nothing wrong:', () => {
  it.each<[string, DeliveryOrdering, Step[]]>([
    ['one after the other', 'queue', [...done(3), ...done(4), ...done(7)]],
    ['batches', 'queue', [['started', [3, 4, 5]], ['succeeded', [3, 4, 5]], ...done(6)]],
    [
      'tries in place',
      'queue',
      [['started', 3], ['failed', 3], ['started', 3, 2], ['failed', 3, 2], ...done(3, 3), ...done(4)],
    ],
    [
      'a rollback of what was held',
      'queue',
      [...done(3), ...done(4), ['started', 5], ['failed', 5], ...done(3), ...done(4), ...done(5)],
    ],
    [
      'a start that a stop took back',
      'queue',
      [['started', [3, 4]], ['released', [3, 4]], ...done(3), ...done(4)],
    ],
    [
      'a batch that could not be settled, and came again in two',
      'queue',
      [['started', [3, 4, 5]], ['started', [3, 4]], ['succeeded', [3, 4]], ...done(5)],
    ],
    [
      'ends that could not be written',
      'queue',
      [['started', 3], ['started', 4], ['started', 5], ['succeeded', 5], ...done(6)],
    ],
    [
      'starts that could not be written',
      'queue',
      [['succeeded', 3], ...done(4), ['failed', 5], ...done(5, 2)],
    ],
    [
      'dead and parked ones that were not started',
      'queue',
      [['started', 3], ['dead-lettered', 3], ['parked', 5], ...done(6)],
    ],
    [
      'one that failed before, and was parked while another ran',
      'queue',
      [['started', 3], ...done(4), ['parked', 3], ['dead-lettered', 5, 2], ...done(6)],
    ],
    [
      'keys beside each other',
      'key',
      [
        ['started', 2],
        ['started', 3],
        ['succeeded', 3],
        ['started', 5],
        ['succeeded', 2],
        ['succeeded', 5],
      ],
    ],
    ['a key behind another one', 'key', [...done(3), ...done(5), ...done(2), ...done(4)]],
    [
      'no order at all',
      'none',
      [
        ['started', 5],
        ['started', 3],
        ['sent-back', 5],
        ['succeeded', 3],
        ['started', 4],
        ['succeeded', 4],
      ],
    ],
  ])('%s', async (_name, ordering, records) => {
    const traced = await TracedStore.open()
    traced.ordering = ordering
    await traced.record(traced.second, records)
    const { violations, checked } = await traced.store.audit()
    expect(violations).toEqual([])
    const rows = records.reduce((sum, [, offsets]) => sum + [offsets].flat().length, 0)
    const starts = records.filter(([event]) => event === 'started').flatMap(([, offsets]) => offsets)
    expect(checked.deliveries).toBe(rows)
    expect(checked.startsInOrder ?? 0).toBe(ordering === 'none' ? 0 : starts.length)
  })

  it('replayed messages in front of the live ones', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, [['started', 3], ['dead-lettered', 3], ...done(4)])
    await traced.record(
      traced.second,
      [
        ['started', 3],
        ['dead-lettered', 3, 2],
      ],
      1,
    )
    await traced.record(traced.second, done(3), 2)
    await traced.record(traced.second, done(5))
    expect((await traced.store.audit()).violations).toEqual([])
  })

  it('what an owner had begun comes again to the next one, and its late end is no start', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.first, [...done(3), ['started', [4, 5]]])
    await traced.record(traced.second, [['started', 4, 2]])
    await traced.record(traced.first, [['failed', [4, 5]]])
    await traced.record(traced.second, [['succeeded', 4, 2], ...done(5, 2)])
    expect((await traced.store.audit()).violations).toEqual([])
  })

  it('a late start of an owner under which the lock ran out', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, done(3))
    await traced.record(traced.first, [['started', 3]])
    expect((await traced.store.audit()).violations).toHaveLength(1)
    for (const predecessor of ['expired', 'forced']) {
      traced.store.corrupt(`update queue_lock set predecessor = '${predecessor}'`)
      expect((await traced.store.audit()).violations).toEqual([])
    }
  })

  it('a member without a lock that begins anew', async () => {
    const traced = await TracedStore.open()
    const fence = { ...traced.first, epoch: 0 }
    await traced.record(fence, [...done(3), ...done(4), ['started', 5], ...done(3), ...done(4)])
    expect((await traced.store.audit()).violations).toEqual([])
  })

  it('whose oldest records were removed, wherever that cut it', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, [
      ...done(3),
      ['started', [4, 5, 6]],
      ['started', [4, 5, 6]],
      ['succeeded', [4, 5, 6]],
      ...done(7),
      ['started', 8],
      ['failed', 8],
      ...done(4),
      ...done(7),
      ...done(8, 2),
    ])
    for (let id = 1; id <= 20; id++) {
      traced.store.corrupt(`delete from delivery where id <= ${id}`)
      expect((await traced.store.audit()).violations).toEqual([])
    }
  })

  it('whose messages are no longer stored', async () => {
    const traced = await TracedStore.open()
    traced.ordering = 'key'
    await traced.record(traced.second, [
      ['started', 2],
      ['started', 4],
      ['succeeded', 2],
    ])
    expect((await traced.store.audit()).violations).toHaveLength(1)
    const row = traced.store.queueRow('orders', 0)
    traced.store.corrupt(`delete from message_${row} where offset < 5; update queue set min_offset = 5`)
    expect((await traced.store.audit()).violations).toEqual([])
  })
})

describe('names what may not happen:', () => {
  it.each<[string, DeliveryOrdering, Step[], Partial<Violation>]>([
    [
      'a start while another message of the queue runs',
      'queue',
      [
        ['started', 3],
        ['started', 4],
        ['succeeded', 3],
        ['succeeded', 4],
      ],
      { invariant: 3, offset: 4, detail: expect.stringMatching(/while offset 3 was running/) },
    ],
    [
      'a start while a batch runs',
      'queue',
      [
        ['started', [3, 4]],
        ['started', 5],
        ['failed', 4],
      ],
      { invariant: 3, offset: 5, detail: expect.stringMatching(/while offset 4 was running/) },
    ],
    [
      'a start while another message of the key runs',
      'key',
      [
        ['started', 2],
        ['started', 3],
        ['started', 4],
        ['succeeded', 3],
        ['succeeded', 2],
      ],
      { invariant: 3, offset: 4, detail: expect.stringMatching(/while offset 2 was running/) },
    ],
    [
      'a queue out of order',
      'queue',
      [...done(3), ...done(5), ...done(4)],
      { invariant: 2, offset: 4, detail: 'first delivered after offset 5 of its queue' },
    ],
    [
      'a key out of order',
      'key',
      [...done(4), ...done(3), ...done(2)],
      { invariant: 2, offset: 2, detail: 'first delivered after offset 4 of its key' },
    ],
    ...(['dead-lettered', 'parked', 'sent-back'] as const).map(
      (event): [string, DeliveryOrdering, Step[], Partial<Violation>] => [
        `a start of what was ${event}`,
        'none',
        [
          ['started', 3],
          [event, 3],
          ['started', 3, 2],
        ],
        { invariant: 7, offset: 3, detail: `started after it was ${event}, by the same owner` },
      ],
    ),
    [
      'a delivery of what was never sent',
      'queue',
      [['started', 20]],
      { invariant: 3, offset: 20, detail: expect.stringMatching(/max offset 20/) },
    ],
  ])('%s', async (_name, ordering, records, expected) => {
    const traced = await TracedStore.open()
    traced.ordering = ordering
    await traced.record(traced.second, records)
    const { violations } = await traced.store.audit()
    expect(violations).toHaveLength(1)
    expect(violations).toMatchObject([{ ...place, ...expected }])
    expect((await traced.store.audit({ group: 'other' })).violations).toEqual([])
    expect((await traced.store.audit({ group: 'g', topic: 'orders' })).violations).toHaveLength(1)
  })

  it('a late start of an owner that had given the lock back', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, done(3))
    await traced.record(traced.first, [['started', 4]])
    expect((await traced.store.audit()).violations).toMatchObject([
      {
        invariant: 4,
        ...place,
        offset: 4,
        detail: expect.stringMatching(/g-member under epoch 1, .* epoch 2/),
      },
    ])
  })

  it('two owners of one epoch', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, done(3))
    await traced.record({ ...traced.first, epoch: 2 }, done(4))
    expect((await traced.store.audit()).violations).toMatchObject([
      { invariant: 9, ...place, offset: 4, detail: "delivered by g-member under epoch 2, which is second's" },
    ])
  })

  it('a journal of what is gone', async () => {
    const traced = await TracedStore.open()
    await traced.record(traced.second, done(3))
    traced.store.corrupt('update delivery set group_id = 99')
    expect((await traced.store.audit()).violations).toMatchObject([
      { invariant: 2, detail: '2 rows of delivery without consumer_group' },
    ])
  })
})
