import { describe, expect, it } from 'vitest'
import type { AuditFilter, Violation } from '../../../../src/core/model/audit.ts'
import { AuditedStore, mq } from './store.ts'

const place = { topic: 'orders', queueId: 0, group: 'g' }

/**
 * Real traffic of one queue with 20 messages. Group g finished 0 to 2, 5 and 8 to 10, dead-lettered 4, parked 6 behind
 * it, and failed at 7 once. A member of the broadcasting group b read up to 12. The topic got a third queue.
 */
async function traffic(): Promise<AuditedStore> {
  const store = await AuditedStore.open()
  const { broker } = store
  await broker.createTopic({ topic: 'orders', queues: 2 })
  const messages = Array.from({ length: 20 }, (_, i) => ({ topic: 'orders', body: `${i}`, key: `k${i % 2}` }))
  await broker.send([{ mq: mq('orders', 0), messages }])
  const fence = await store.own('g', 'orderly', 'orders')
  const { epoch, mq: queue } = fence
  const ahead = [[5, 6] as const, [8, 11] as const]
  await broker.commitOffsets('g', fence.clientId, [{ mq: queue, offset: 3, ahead, epoch }])
  const dead = { message: await store.message('orders', 4), attempts: 2, lastError: 'boom' }
  await broker.deadLetter(fence, [dead], null, { parkKeys: true })
  await broker.parkedKeys?.park(fence, [await store.message('orders', 6)], null)
  const failure = { offset: 7, replay: 0, attempts: 1, lastError: 'boom', nextTryAt: null }
  await broker.attempts?.fail(fence, [failure])
  await broker.heartbeat({
    ...{ group: 'b', clientId: 'reader', mode: 'orderly', messageModel: 'broadcasting', lockTtlMs: 60_000 },
    subscriptions: [{ topic: 'orders', expressionType: 'TAG', expression: '*' }],
  })
  await broker.commitLocalOffsets('b', 'reader', [{ mq: queue, offset: 12 }])
  await broker.admin.alterTopic('orders', { queues: 3 })
  return store
}

it('finds nothing wrong with what is done with beyond the committed offset, parked, read by each, or held', async () => {
  const store = await traffic()
  const { violations, checked } = await store.audit()
  expect(violations).toEqual([])
  expect(checked).toMatchObject({
    ...{ offsets: 1, offsetsAhead: 1, broadcastOffsets: 1, deadLetters: 2, parkedKeys: 1, barriers: 1 },
    attempts: 1,
  })
  expect(await store.broker.committedOffsets('g', 'orders')).toMatchObject([
    // 3 is unfinished; 4 to 6 and 8 to 10 are done with.
    {
      offset: 3,
      ahead: [
        [4, 7],
        [8, 11],
      ],
    },
  ])
})

const setAhead = (json: string) => `update consumer_offset set ahead = '${json}'`
const g = `(select id from consumer_group where name = 'g')`
const queue = `(select q.id from queue q join topic t on t.id = q.topic_id where t.name = 'orders' and q.queue_id = 0)`

describe('names what was corrupted by hand:', () => {
  it.each<[string, string, Partial<Violation>[]]>([
    [
      'ranges that are none',
      setAhead('[[4, 7], [8, 8], [9, 11]]'),
      [{ invariant: 6, ...place, offset: 3, detail: expect.stringMatching(/8 to before 8/) }],
    ],
    [
      'ranges at the committed offset',
      setAhead('[[3, 7], [8, 11]]'),
      [
        {
          invariant: 6,
          ...place,
          offset: 3,
          detail: expect.stringMatching(/3 to before 7.*committed offset 3/),
        },
      ],
    ],
    [
      'ranges that overlap',
      setAhead('[[4, 8], [7, 11]]'),
      // And the failed attempt of 7 has no business there any more.
      [
        { invariant: 2, ...place, offset: 7 },
        { invariant: 6, ...place, offset: 3 },
      ],
    ],
    [
      'ranges out of order',
      setAhead('[[8, 11], [4, 7]]'),
      [{ invariant: 6, ...place, offset: 3, detail: expect.stringMatching(/4 to before 7.*before 11/) }],
    ],
    [
      'ranges beyond the end',
      setAhead('[[4, 7], [8, 21]]'),
      [{ invariant: 6, ...place, offset: 3, detail: expect.stringMatching(/8 to before 21.*max offset 20/) }],
    ],
    ...['no json', '[[4, 7], [8]]', '[4, 7]', '{}', '["a"]', '[[4, 6.5]]'].map(
      (json): [string, string, Partial<Violation>[]] => [
        `no list of ranges: ${json}`,
        // The dead letters are pending where nothing says otherwise.
        `delete from parked_key; delete from dead_letter; ${setAhead(json)}`,
        [{ invariant: 6, ...place, offset: 3, detail: expect.stringContaining('no list of ranges') }],
      ],
    ),
    [
      'dead letters that are pending',
      'update consumer_offset set ahead = null',
      [
        { invariant: 7, ...place, offset: 4, detail: expect.stringMatching(/\(dead\) and pending.* 3$/) },
        { invariant: 7, ...place, offset: 6, detail: expect.stringMatching(/\(parked\) and pending/) },
      ],
    ],
    [
      'attempts of a message that is done with',
      `insert into attempt (group_id, queue_id, offset, replay, attempts, running) values (${g}, ${queue}, 9, 0, 2, 1)`,
      [{ invariant: 2, ...place, offset: 9, detail: expect.stringMatching(/2 attempts .*done with/) }],
    ],
    [
      'a key that is parked for nothing',
      `insert into parked_key (group_id, queue_id, key) values (${g}, ${queue}, 'k1')`,
      [
        {
          invariant: 7,
          ...place,
          offset: null,
          detail: 'key k1 is parked, but no message of it is dead or parked',
        },
      ],
    ],
    [
      'a parked key whose letters are replayed',
      `update dead_letter set state = 'replayed', replays = 1, replayed_at = 1, settled_at = 1`,
      [{ invariant: 7, ...place, detail: expect.stringContaining('key k0 is parked') }],
    ],
    [
      'a barrier beyond the end',
      `update barrier_queue set offset = 21 where queue_id = ${queue}`,
      [{ invariant: 3, topic: 'orders', queueId: 0, group: null, offset: 21 }],
    ],
    [
      'a member of a broadcasting group beyond the end',
      'update broadcast_offset set committed_offset = 21',
      [
        {
          invariant: 6,
          topic: 'orders',
          queueId: 0,
          group: 'b',
          offset: 21,
          detail: expect.stringContaining('reader'),
        },
      ],
    ],
    [
      'rows of what is gone',
      `delete from consumer_group where name = 'b'`,
      [
        { invariant: 6, detail: '1 row of broadcast_offset without consumer_group' },
        { invariant: 9, detail: '1 row of member without consumer_group' },
      ],
    ],
  ])('%s', async (_name, corruption, expected) => {
    const store = await traffic()
    store.corrupt(corruption)
    const { violations } = await store.audit()
    expect(violations).toHaveLength(expected.length)
    expect(violations).toMatchObject(expected)
  })
})

it('takes a dead letter whose original round came again by a reset for what it is', async () => {
  const store = await traffic()
  await store.broker.admin.resetOffsets('g', [{ mq: mq('orders', 0), offset: 0 }], { force: true })
  expect((await store.audit()).violations).toEqual([])
  expect((await store.broker.deadLetters.list('g', {}, { limit: 9 })).deadLetters).toHaveLength(2)
  store.corrupt('update dead_letter set reset_at = null where offset = 4')
  expect((await store.audit()).violations).toMatchObject([{ invariant: 7, ...place, offset: 4 }])
})

// A barrier is of the topic, whatever the group.
it.each<[AuditFilter, number[]]>([
  [{ group: 'g' }, [3, 6, 7]],
  [{ group: 'b' }, [3, 6]],
  [{ topic: 'orders', group: 'g' }, [3, 6, 7]],
  [{ topic: 'other' }, []],
])('looks only at what the filter names: %o', async (filter, invariants) => {
  const store = await traffic()
  store.corrupt(`${setAhead('[[4, 7], [8, 21]]')}; update broadcast_offset set committed_offset = 21;
    insert into parked_key (group_id, queue_id, key) values (${g}, ${queue}, 'k1');
    update barrier_queue set offset = 21 where queue_id = ${queue}`)
  const { violations } = await store.audit(filter)
  expect(violations.map(({ invariant }) => invariant)).toEqual(invariants)
})
