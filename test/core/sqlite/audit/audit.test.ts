import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditFilter, Violation } from '../../../../src/core/model/audit.ts'
import { Cluster, type Engine, mq, orderly } from '../engine.ts'

let cluster: Cluster
let a: Engine

/**
 * Real traffic that touches everything: two topics, a retention cut, owners that died, failures, dead letters that
 * were replayed to the lane (one settled, one waiting) and to another topic, and one that died again.
 */
beforeEach(async () => {
  cluster = new Cluster()
  a = cluster.start()
  await a.topics.create({ topic: 'orders', queues: 2 })
  await a.topics.create({ topic: 'bills', queues: 1 })
  for (const queueId of [0, 1]) await a.send('orders', queueId, ...bodies(20))
  const queue = mq('orders', 0)
  const dying = cluster.start()
  const first = await dying.own('g', 'dying', queue)
  await dying.consumption.attempts.start(
    first,
    [0, 1].map((offset) => ({ offset, replay: 0 })),
  )
  cluster.machine.kill(dying.host)
  const fence = await a.own('g', 'a', queue)
  for (const offset of [0, 1, 2, 3]) await a.deadLetter(fence, offset)
  const { deadLetters } = await a.consumption.deadLetters.list('g', {}, { limit: 10 })
  for (const letter of deadLetters.slice(0, 3)) await a.consumption.deadLetters.replay(letter, {})
  if (deadLetters[3]) await a.consumption.deadLetters.replay(deadLetters[3], { toTopic: 'bills' })
  const [done, again] = await a.consumption.redelivery.pull(fence, 10)
  if (done?.redelivery) await a.consumption.redelivery.complete(fence, [done.redelivery.deadLetterId])
  if (again)
    await a.consumption.deadLetter(fence, [{ message: again, attempts: 2, lastError: 'again' }], null)
  await a.consumption.attempts.start(fence, [{ offset: 2, replay: 1 }])
  const failure = { offset: 4, replay: 0, attempts: 2, lastError: 'boom', nextTryAt: null }
  await a.consumption.attempts.fail(fence, [failure])
  const bills = mq('bills', 0)
  await a.join('h', 'a', orderly('bills'))
  const { epoch } = await a.own('h', 'a', bills)
  await a.consumption.commitOffsets('h', 'a', [{ mq: bills, offset: 1, epoch }])
  await a.consumption.unlockBatch('h', 'a', [bills])
  sql(`delete from message_${row('orders', 1)} where offset < 5`)
  sql(`update queue set min_offset = 5 where id = ${row('orders', 1)}`)
})

afterEach(() => cluster.close())

function bodies(n: number): { body: string; key: string }[] {
  return Array.from({ length: n }, (_, i) => ({ body: `${i}`, key: `k${i}` }))
}

function sql(text: string): void {
  a.store.db.pragma('foreign_keys = off')
  a.store.db.pragma('ignore_check_constraints = on')
  a.store.db.exec(text)
}

const row = (topic: string, queueId: number) => a.queueRow(topic, queueId)

async function violations(filter: AuditFilter = {}): Promise<readonly Violation[]> {
  return (await a.consumption.audit(filter)).violations
}

it('finds nothing wrong with real traffic, and says what it looked at', async () => {
  expect(await a.consumption.audit({})).toEqual({
    violations: [],
    checked: {
      ...{ queues: 3, messages: 20 + 15 + 1, offsets: 2, attempts: 2, deadLetters: 4, locks: 2 },
      ...{
        broadcastOffsets: 0,
        offsetsAhead: 0,
        delayedMessages: 0,
        parkedKeys: 0,
        barriers: 0,
        deliveries: 0,
      },
    },
  })
})

it('finds nothing wrong with an empty file', async () => {
  const empty = new Cluster()
  const report = await empty.start().consumption.audit({})
  expect(report.violations).toEqual([])
  await empty.close()
})

const ids = { orders: "topic_id = (select id from topic where name = 'orders')" }
const g = `(select id from consumer_group where name = 'g')`
const place = { topic: 'orders', queueId: 0, group: null }
const groupPlace = { topic: 'orders', queueId: 0, group: 'g' }
const letter = (offset: number) =>
  `update dead_letter set %s where offset = ${offset}`.split('%s') as [string, string]
const set = (offset: number, change: string) => letter(offset).join(change)

describe('names what was corrupted by hand:', () => {
  it.each<[string, () => string, Partial<Violation>[]]>([
    [
      'messages that are missing',
      () => `delete from message_${row('orders', 0)} where offset in (7, 8, 11)`,
      [
        { invariant: 1, ...place, offset: 7, detail: 'offsets 7 to 8 are missing' },
        { invariant: 1, ...place, offset: 11, detail: 'offset 11 is missing' },
      ],
    ],
    [
      'the first message missing',
      () => `delete from message_${row('orders', 1)} where offset = 5`,
      [{ invariant: 1, topic: 'orders', queueId: 1, offset: 5, detail: 'offset 5 is missing' }],
    ],
    [
      'all messages missing',
      () => `delete from message_${row('orders', 1)}`,
      [{ invariant: 1, topic: 'orders', queueId: 1, offset: 5, detail: 'offsets 5 to 19 are missing' }],
    ],
    [
      'a message below the first',
      () => `update message_${row('orders', 1)} set offset = 2 where offset = 5`,
      [
        { invariant: 1, topic: 'orders', queueId: 1, offset: 2, detail: 'stored below the min offset 5' },
        { invariant: 1, topic: 'orders', queueId: 1, offset: 5, detail: 'offset 5 is missing' },
      ],
    ],
    [
      'offsets that start again',
      () => `update queue set max_offset = 6 where id = ${row('orders', 1)}`,
      [
        {
          invariant: 1,
          topic: 'orders',
          queueId: 1,
          offset: 19,
          detail: 'stored at or above the max offset 6',
        },
      ],
    ],
    [
      'a message table that is gone',
      () => `drop table message_${row('orders', 1)}`,
      [{ invariant: 1, topic: 'orders', queueId: 1, detail: expect.stringContaining('is missing') }],
    ],
    [
      'a message table of no queue',
      () => 'create table message_77 (offset integer primary key)',
      [{ invariant: 1, topic: null, detail: 'table message_77 belongs to no queue' }],
    ],
    [
      'a queue that is gone',
      () => `delete from queue where ${ids.orders} and queue_id = 1`,
      [
        { invariant: 1, topic: 'orders', queueId: null, detail: 'the topic has 1 queues, its row says 2' },
        { invariant: 1, detail: expect.stringContaining('belongs to no queue') },
      ],
    ],
    [
      'attempts below the committed offset',
      () => `insert into attempt (group_id, queue_id, offset, replay, attempts, running)
             values (${g}, ${row('orders', 0)}, 1, 0, 3, 0)`,
      [
        {
          invariant: 2,
          ...groupPlace,
          offset: 1,
          detail: '3 attempts of a message below the committed offset 4',
        },
      ],
    ],
    [
      'attempts of a message that does not exist',
      () => `update attempt set offset = 20 where replay = 0`,
      [{ invariant: 3, ...groupPlace, offset: 20 }],
    ],
    [
      'no attempts',
      () => `update attempt set attempts = 0 where replay = 0`,
      [{ invariant: 3, ...groupPlace, offset: 4, detail: '0 attempts are stored; the least is 1' }],
    ],
    [
      'attempts without any lock',
      () => `delete from queue_lock where group_id = ${g}`,
      [
        { invariant: 4, ...groupPlace, offset: 2 },
        { invariant: 4, ...groupPlace, offset: 4 },
      ],
    ],
    [
      'a dead letter with a foreign id',
      () => set(1, `msg_id = '0123456789ABCDEF0123456789ABCDEF'`),
      [{ invariant: 5, ...groupPlace, offset: 1, detail: expect.stringContaining('0123456789ABCDEF') }],
    ],
    [
      'a dead letter with another body than the original',
      () => set(1, `body = x'00'`),
      [{ invariant: 5, ...groupPlace, offset: 1 }],
    ],
    [
      'a committed offset above the end',
      () => `update consumer_offset set committed_offset = 21 where group_id = ${g}`,
      [
        { invariant: 2, ...groupPlace, offset: 4 },
        { invariant: 6, ...groupPlace, offset: 21, detail: 'committed offset 21 is above the max offset 20' },
      ],
    ],
    [
      'a committed offset below zero',
      () => `update consumer_offset set committed_offset = -1 where queue_id = ${row('bills', 0)}`,
      [{ invariant: 6, topic: 'bills', queueId: 0, group: 'h', offset: -1 }],
    ],
    [
      'an offset that moved back below dead letters',
      () => `update consumer_offset set committed_offset = 1 where group_id = ${g}`,
      [
        {
          invariant: 7,
          ...groupPlace,
          offset: 1,
          detail: 'dead-lettered (dead) and pending: the committed offset is 1',
        },
        { invariant: 7, ...groupPlace, offset: 2, detail: expect.stringMatching(/replayed/) },
      ],
    ],
    [
      'a dead letter beyond the end',
      () => set(3, `offset = 25, msg_id = '${'0'.repeat(32)}', properties = '{"UNIQ_KEY":"x"}'`),
      [{ invariant: 7, ...groupPlace, offset: 25 }],
    ],
    [
      'a dead letter that is settled',
      () => set(1, 'settled_at = 5'),
      [{ invariant: 8, ...groupPlace, offset: 1, detail: 'state dead, but settled' }],
    ],
    [
      'a replayed one that never was',
      () => set(0, 'replays = 0, replayed_at = null'),
      [{ invariant: 8, ...groupPlace, offset: 0, detail: 'state replayed, but never replayed' }],
    ],
    [
      'replays without a time',
      () => set(1, 'replayed_at = null'),
      [{ invariant: 8, ...groupPlace, offset: 1, detail: 'replayed 1 times, the last time never' }],
    ],
    [
      'attempts of a replay that is not in the lane',
      () => set(2, 'settled_at = 5'),
      [{ invariant: 8, ...groupPlace, offset: 2 }],
    ],
    [
      'an owner that nobody knows',
      () => `update queue_lock set client_id = 'ghost' where group_id = ${g}`,
      [{ invariant: 9, ...groupPlace, detail: 'its owner ghost is no client that is known' }],
    ],
    [
      'an epoch that fell',
      () => `update queue_lock set epoch = 0 where group_id = ${g}`,
      [{ invariant: 9, ...groupPlace, detail: 'epoch 0; the first is 1' }],
    ],
    [
      'a lock that is owned and lost',
      () => `update queue_lock set lost_by = 'dead' where group_id = ${g}`,
      [{ invariant: 9, ...groupPlace, detail: 'owned by a and at the same time lost (dead)' }],
    ],
    [
      'a handler without an owner',
      () =>
        `insert into lock_handler select group_id, queue_id, 0, 5, '77' from queue_lock where client_id is null`,
      [
        {
          invariant: 9,
          topic: 'bills',
          queueId: 0,
          group: 'h',
          detail: 'a handler (pid 5) without an owner',
        },
      ],
    ],
    [
      'a member that nobody knows',
      () => `update member set client_id = 'ghost' where client_id = 'a' and group_id = ${g}`,
      [{ invariant: 9, group: 'g', topic: null, detail: 'member ghost is no client that is known' }],
    ],
    [
      'rows of a group that is gone',
      () => `delete from consumer_group where name = 'h'`,
      [
        { invariant: 6, detail: '1 row of consumer_offset without consumer_group' },
        { invariant: 9, detail: '1 row of member without consumer_group' },
        { invariant: 9, detail: '1 row of queue_lock without consumer_group' },
      ],
    ],
  ])('%s', async (_name, corruption, expected) => {
    sql(corruption())
    const found = await violations()
    expect(found).toHaveLength(expected.length)
    expect(found).toMatchObject(expected)
  })
})

describe('looks only at what the filter names', () => {
  beforeEach(() => {
    sql(`update consumer_offset set committed_offset = 99 where group_id <> ${g}`)
    sql(`delete from message_${row('orders', 1)} where offset = 9`)
  })

  it.each<[AuditFilter, number[]]>([
    [{}, [1, 6]],
    [{ topic: 'orders' }, [1]],
    [{ topic: 'bills' }, [6]],
    [{ group: 'g' }, [1]],
    [{ group: 'h' }, [1, 6]],
    [{ topic: 'bills', group: 'g' }, []],
  ])('%o', async (filter, invariants) => {
    expect((await violations(filter)).map(({ invariant }) => invariant)).toEqual(invariants)
  })
})
