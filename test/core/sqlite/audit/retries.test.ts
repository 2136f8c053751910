import { describe, expect, it } from 'vitest'
import type { Fence } from '../../../../src/core/broker.ts'
import type { Violation } from '../../../../src/core/model/audit.ts'
import { AuditedStore, mq } from './store.ts'

const RETRY = '%RETRY%g'
const HOUR_MS = 3_600_000
const place = { topic: 'orders', queueId: 0, group: 'g' }

/**
 * Real traffic of a concurrent group. Of 20 messages it finished 0 to 2, and failed at five: 7 waits for its first
 * retry, 3 for its second, 9 for its turn in the retry topic, 5 is dead, and 11 succeeded at its retry. A message that
 * its producer delayed waits, too.
 */
async function traffic(): Promise<AuditedStore> {
  const store = await AuditedStore.open()
  const { broker } = store
  await broker.createTopic({ topic: 'orders', queues: 1 })
  const messages = Array.from({ length: 20 }, (_, i) => ({ topic: 'orders', body: `${i}`, key: `k${i}` }))
  await broker.send([{ mq: mq('orders', 0), messages }])
  await broker.send([
    { mq: mq('orders', 0), messages: [{ topic: 'orders', body: 'later', delayMs: HOUR_MS }] },
  ])
  const live = await store.own('g', 'concurrent', 'orders')
  for (const offset of [3, 5, 11, 9]) await fail(store, live, offset, 1, 0)
  await fail(store, live, 7, 1, HOUR_MS)
  await broker.commitOffsets('g', live.clientId, [{ mq: live.mq, offset: 3, epoch: live.epoch }])
  // In the retry topic at 0 to 3.
  const retry = await store.lock('g', live.clientId, RETRY)
  await fail(store, retry, 0, 2, HOUR_MS)
  const dead = { message: await store.message(RETRY, 1), attempts: 3, lastError: 'boom' }
  await broker.deadLetter(retry, [dead], null)
  await broker.commitOffsets('g', retry.clientId, [{ mq: retry.mq, offset: 3, epoch: retry.epoch }])
  return store
}

async function fail(store: AuditedStore, fence: Fence, offset: number, attempts: number, delayMs: number) {
  const message = await store.message(fence.mq.topic, offset)
  await store.broker.sendBack(fence, [{ message, attempts, lastError: 'boom', delayMs }])
}

it('finds nothing wrong with messages that are tried again, delayed or dead', async () => {
  const store = await traffic()
  const { violations, checked } = await store.audit()
  expect(violations).toEqual([])
  expect(checked).toMatchObject({ messages: 20 + 4, delayedMessages: 3, deadLetters: 1, offsetsAhead: 1 })
  for (const filter of [
    { group: 'g' },
    { topic: 'orders' },
    { topic: RETRY },
    { group: 'g', topic: 'orders' },
  ]) {
    expect((await store.audit(filter)).violations).toEqual([])
  }
})

const COLUMNS = 'queue_id, born, key, tags, keys, properties, body'
const delayed = (offset: number) => `properties ->> 'RMQ_ORIGIN_PLACE' ->> 'offset' = ${offset}`
/** Delays once more what is in the retry topic at that offset. */
const delayAgain = (row: number, offset: number) =>
  `insert into delayed_message (due_at, ${COLUMNS})
   select 9e12, ${row}, stored - age, key, tags, keys, properties, body from message_${row} where offset = ${offset}`

describe('names what was corrupted by hand:', () => {
  it.each<[string, (retryRow: number) => string, Partial<Violation>[]]>([
    [
      'a delayed message without an id',
      () => `update delayed_message set properties = '{}' where properties ->> 'RETRY_TOPIC' is null`,
      [
        {
          invariant: 5,
          topic: 'orders',
          queueId: 0,
          group: null,
          detail: expect.stringContaining('UNIQ_KEY'),
        },
      ],
    ],
    [
      'a delayed message whose properties cannot be read',
      () => `update delayed_message set properties = 'nonsense' where ${delayed(7)}`,
      [{ invariant: 5, topic: RETRY, queueId: 0 }],
    ],
    [
      'a message that is delayed twice',
      () => `insert into delayed_message (due_at, ${COLUMNS})
             select due_at, ${COLUMNS} from delayed_message where ${delayed(7)}`,
      [{ invariant: 7, ...place, offset: 7, detail: 'waits for 2 retries at once' }],
    ],
    [
      'a message that is delayed and waits in the retry topic',
      (row) => delayAgain(row, 3),
      [{ invariant: 7, ...place, offset: 9, detail: 'waits for 2 retries at once' }],
    ],
    [
      'a retry that comes again from below',
      () => `update consumer_offset set committed_offset = 0, ahead = '[[1, 3]]'
             where queue_id = (select q.id from queue q join topic t on t.id = q.topic_id where t.name = '${RETRY}')`,
      [{ invariant: 7, ...place, offset: 3, detail: 'waits for 2 retries at once' }],
    ],
    [
      'a dead letter that is tried again',
      (row) => delayAgain(row, 1),
      [
        {
          invariant: 7,
          ...place,
          offset: 5,
          detail: expect.stringMatching(/retry and .*dead letters \(dead\)/),
        },
      ],
    ],
    [
      'a replayed one in its lane that is tried again',
      (row) => `${delayAgain(row, 1)};
        update dead_letter set state = 'replayed', replays = 1, replayed_at = 1, settled_at = null`,
      [{ invariant: 7, ...place, offset: 5, detail: expect.stringMatching(/dead letters \(replayed\)/) }],
    ],
    [
      'messages that are tried again and pending',
      () => `delete from dead_letter; update consumer_offset set ahead = '[[7, 8]]' where ahead is not null`,
      [{ invariant: 7, ...place, offset: 9, detail: expect.stringMatching(/retry and is pending.* 4$/) }],
    ],
    [
      'a retry that does not know where it came from',
      (row) =>
        `update message_${row} set properties = json_remove(properties, '$.RMQ_ORIGIN_PLACE') where offset = 3`,
      [{ invariant: 7, topic: RETRY, queueId: 0, group: 'g', offset: 3 }],
    ],
    [
      'a delayed message of no queue',
      () => `update delayed_message set queue_id = 999 where ${delayed(7)}`,
      [{ invariant: 7, detail: '1 row of delayed_message without queue' }],
    ],
  ])('%s', async (_name, corruption, expected) => {
    const store = await traffic()
    store.corrupt(corruption(store.queueRow(RETRY, 0)))
    const { violations } = await store.audit()
    expect(violations).toHaveLength(expected.length)
    expect(violations).toMatchObject(expected)
  })
})

it('takes a second round by a reset for what it is: the dead letter stays, and its message is tried again', async () => {
  const store = await traffic()
  const { broker } = store
  await broker.admin.resetOffsets('g', [{ mq: mq('orders', 0), offset: 0 }], { force: true })
  expect((await store.audit()).violations).toEqual([])
  const live = await store.lock('g', 'g-member', 'orders')
  await fail(store, live, 5, 1, HOUR_MS)
  const { violations, checked } = await store.audit()
  expect(violations).toEqual([])
  expect(checked).toMatchObject({ deadLetters: 1, delayedMessages: 2 })
  store.corrupt('update dead_letter set reset_at = null')
  expect((await store.audit()).violations).toMatchObject([{ invariant: 7, ...place, offset: 5 }])
})

it('does not take what somebody put into a retry topic for a retry', async () => {
  const store = await traffic()
  await store.broker.send([{ mq: mq(RETRY, 0), messages: [{ topic: RETRY, body: 'by hand', key: 'k' }] }])
  expect((await store.audit()).violations).toEqual([])
})
