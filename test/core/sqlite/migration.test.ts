import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { OrderlyConsumer, openBroker, Producer, verify } from '../../../src/core/index.ts'
import { messageTableSql, SCHEMA_1 } from '../../../src/core/sqlite/schema.ts'
import { tempDb } from '../../helpers/temp.ts'

/** A file as the first version left it: three messages, a group that is done with one, a lock of a dead owner. */
function firstVersion(path: string): void {
  const db = new Database(path)
  db.pragma('journal_mode = wal')
  db.exec(SCHEMA_1)
  db.exec(messageTableSql(1))
  db.exec(`
    insert into store values (1, 305419896, 1700000000000);
    insert into topic values (1, 'orders', 1, 'java', null, 4194304, 6, 1700000000000);
    insert into queue values (1, 1, 0, 0, 3);
    insert into message_1 values
      (0, 1700000000000, 0, 'k', null, null, null, x'61'),
      (1, 1700000000001, 0, 'k', null, null, null, x'62'),
      (2, 1700000000002, 0, 'k', null, null, '{"colour":"red"}', x'63');
    insert into consumer_group values (1, 'g', 3, 500, 1, 1700000000000);
    insert into consumer_offset values (1, 1, 1, 1700000000000);
    insert into queue_lock values
      (1, 1, 4, null, 60000, 1700000000000, 1700000000000, 0, 99999, 'old', 0, 'dead', 'none');
    insert into dead_letter
      (group_id, topic, queue_row, queue_id, offset, msg_id, key, body, born, stored, attempts,
       dead_lettered_at, state)
    values (1, 'orders', 1, 0, 0, '12345678000000010000000000000000', 'k', x'61', 1700000000000,
      1700000000000, 4, 1700000000000, 'dead');
  `)
  // "rmq1" in ASCII: what tells a file of ours from another program's.
  db.pragma('application_id = 1919775025')
  db.pragma('user_version = 1')
  db.close()
}

it('a file of the first version goes on where it was', async () => {
  const db = tempDb()
  firstVersion(db)
  await using broker = await openBroker({ db })
  expect(await broker.committedOffsets('g', 'orders')).toMatchObject([{ offset: 1, ahead: [] }])
  expect(await broker.groupConfig('g')).toMatchObject({
    maxReconsumeTimes: 3,
    suspendMs: 500,
    consumeEnable: true,
    trace: false,
  })
  const { deadLetters } = await broker.deadLetters.list('g', {}, { limit: 10 })
  expect(deadLetters).toMatchObject([{ state: 'dead', attempts: 4, message: { queueOffset: 0 } }])
  await new Producer(broker).send({ topic: 'orders', key: 'k', body: 'd' })
  const seen: unknown[] = []
  await new OrderlyConsumer(broker, { group: 'g', topics: ['orders'], exitAtEnd: true }).start(
    ([message]) => {
      seen.push([Buffer.from(message?.body ?? []).toString(), message?.properties])
    },
  )
  expect(seen).toEqual([
    ['b', {}],
    ['c', { colour: 'red' }],
    ['d', {}],
  ])
  expect((await broker.listLocks()).length).toBe(0)
  expect((await verify(broker, {})).violations).toEqual([])
})

it('a handler that ran in the first version is still waited for', async () => {
  const path = tempDb()
  firstVersion(path)
  await using _broker = await openBroker({ db: path })
  const db = new Database(path, { readonly: true })
  expect(db.prepare('select group_id, queue_id, slot, pid, start_time from lock_handler').all()).toEqual([
    { group_id: 1, queue_id: 1, slot: 0, pid: 99999, start_time: 'old' },
  ])
  db.close()
})
