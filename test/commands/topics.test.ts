import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { seed } from '../helpers/store.ts'
import { tempDb, tempFolder } from '../helpers/temp.ts'

it('creates a topic, says so on stderr, and lists it', async () => {
  const db = tempDb()
  const created = await rmq(['topics', 'create', 'orders', '--queues', '4', '--max-body', '1MiB'], { db })
  expect(created.status).toBe(0)
  expect(created.stdout).toMatch(/^orders\t4\tjava\tnone\t1MiB\t6\t\d{4}-\d\d-\d\dT[\d:.]+Z\n$/)
  expect(created.stderr).toContain('created topic orders')
  const listed = await rmq(['topics', 'list', '--json'], { db })
  expect(JSON.parse(listed.stdout)).toEqual({
    topics: [
      {
        topic: 'orders',
        queues: 4,
        hash: 'java',
        retention: null,
        maxBody: 1_048_576,
        perm: 6,
        createdAt: expect.stringMatching(/Z$/),
      },
    ],
  })
})

it('refuses a name twice, unless that was meant, and says what differs', async () => {
  const db = tempDb()
  await rmq(['topics', 'create', 'orders', '--queues', '4'], { db })
  const again = await rmq(['topics', 'create', 'orders', '--json'], { db })
  expect(again.status).toBe(4)
  expect(JSON.parse(again.stdout).error.code).toBe('TOPIC_EXISTS')
  const kept = await rmq(['topics', 'create', 'orders', '--queues', '8', '--if-not-exists', '--json'], { db })
  expect(kept.status).toBe(0)
  expect(JSON.parse(kept.stdout)).toMatchObject({ topic: 'orders', queues: 4, created: false })
  expect(kept.stderr).toContain('has queues 4, not 8')
})

it.each([
  ['an illegal name', ['topics', 'create', 'a b'], 'INVALID_NAME'],
  ['no queues', ['topics', 'create', 'orders', '--queues', '0'], 'INVALID_ARGUMENT'],
  ['too many queues', ['topics', 'create', 'orders', '--queues', '1025'], 'INVALID_ARGUMENT'],
  ['half a queue', ['topics', 'create', 'orders', '--queues', '1.5'], 'INVALID_ARGUMENT'],
  ['a hash rule nobody knows', ['topics', 'create', 'orders', '--hash', 'md5'], 'INVALID_ARGUMENT'],
  ['a size that is none', ['topics', 'create', 'orders', '--max-body', '4K'], 'INVALID_ARGUMENT'],
])('refuses %s and creates nothing', async (_, args, code) => {
  const db = tempDb()
  const refused = await rmq([...args, '--json'], { db })
  expect(refused.status).toBe(2)
  expect(JSON.parse(refused.stdout).error.code).toBe(code)
  expect(JSON.parse((await rmq(['topics', 'list', '--json'], { db })).stdout)).toEqual({ topics: [] })
})

it('finds topics by a pattern', async () => {
  const db = tempDb()
  for (const topic of ['orders', 'orders-eu', 'bills']) await seed(db, topic, 1, [])
  const names = async (pattern: string) =>
    (await rmq(['topics', 'list', pattern], { db })).stdout.split('\n').map((line) => line.split('\t')[0])
  expect(await names('order*')).toEqual(['orders', 'orders-eu', ''])
  expect(await names('bill?')).toEqual(['bills', ''])
  expect(await names('order')).toEqual([''])
})

it('describes a topic and its queues', async () => {
  const db = tempDb()
  await seed(db, 'orders', 2, [
    { body: 'a', queueId: 1 },
    { body: 'b', queueId: 1 },
  ])
  const json = await rmq(['topics', 'describe', 'orders', '--json'], { db })
  expect(JSON.parse(json.stdout)).toMatchObject({
    topic: 'orders',
    queueStats: [
      { queueId: 0, minOffset: 0, maxOffset: 0 },
      { queueId: 1, minOffset: 0, maxOffset: 2 },
    ],
    barrier: null,
  })
  const text = await rmq(['topics', 'describe', 'orders'], { db })
  expect(text.stdout.split('\n').slice(-3)).toEqual(['0\t0\t0\t0\t0\tlive', '1\t0\t2\t2\t0\tlive', ''])
})

it('tells of delayed messages, queue by queue, and of those that go when it is deleted', async () => {
  const db = tempDb()
  const run = (...args: string[]) => rmq(args, { db })
  await seed(db, 'orders', 3, [
    { body: 'a', queueId: 2 },
    { body: 'b', queueId: 2, delayMs: 3_600_000 },
    { body: 'c', queueId: 2, delayMs: 3_600_000 },
    { body: 'd', queueId: 1, delayMs: 3_600_000 },
  ])
  const text = await run('topics', 'describe', 'orders')
  const rows = ['0\t0\t0\t0\t0\tlive', '1\t0\t0\t0\t1\tlive', '2\t0\t1\t1\t2\tlive', '']
  expect(text.stdout.split('\n').slice(-4)).toEqual(rows)
  // A dropped queue stays while messages that were sent to it are still to come.
  await run('topics', 'alter', 'orders', '--queues', '1', '-y')
  const { queueStats } = JSON.parse((await run('topics', 'describe', 'orders', '--json')).stdout)
  expect(queueStats).toEqual([
    { queueId: 0, minOffset: 0, maxOffset: 0, scheduled: 0, dropped: false },
    { queueId: 1, minOffset: 0, maxOffset: 0, scheduled: 1, dropped: true },
    { queueId: 2, minOffset: 0, maxOffset: 1, scheduled: 2, dropped: true },
  ])
  expect((await run('pull', 'orders', '-g', 'g', '--no-ack')).status).toBe(0)
  const consumed = await run('consume', 'orders', '-g', 'g', '--orderly', '-e')
  expect(consumed).toMatchObject({ status: 0, stdout: 'a\n' })
  const deleted = await run('topics', 'delete', 'orders', '--confirm', 'orders', '--json')
  expect(JSON.parse(deleted.stdout)).toMatchObject({ messages: 1, scheduled: 3 })
  expect(deleted.stderr).toContain('1 message in 3 queues, 3 delayed messages and the offsets of 1 group')
})

it('names the topic that was probably meant', async () => {
  const db = tempDb()
  await seed(db, 'orders', 1, [])
  const missed = await rmq(['topics', 'describe', 'ordres'], { db })
  expect(missed).toMatchObject({ status: 3, stdout: '' })
  expect(missed.stderr).toContain('did you mean orders')
})

it('looks at a database that is not there without making one', async () => {
  const db = join(tempFolder(), 'none', 'rmq.db')
  const listed = await rmq(['topics', 'list'], { db })
  expect(listed).toMatchObject({ status: 0, stdout: '' })
  expect((await rmq(['topics', 'describe', 'orders'], { db })).status).toBe(3)
  expect(existsSync(dirname(db))).toBe(false)
})

it('makes the default database where XDG says, for its user alone', async () => {
  const home = tempFolder()
  const created = await rmq(['topics', 'create', 'orders'], { env: { XDG_DATA_HOME: home, RMQ_DB: '' } })
  expect(created.status).toBe(0)
  expect(statSync(join(home, 'rmq')).mode & 0o777).toBe(0o700)
  expect(statSync(join(home, 'rmq', 'rmq.db')).mode & 0o777).toBe(0o600)
})

it('takes --db before RMQ_DB, in front of the command as well as behind it', async () => {
  const db = tempDb()
  await seed(db, 'orders', 1, [])
  const other = { db: tempDb() }
  for (const args of [
    ['topics', 'list', '--db', db, '--json'],
    ['--db', db, '--json', 'topics', 'list'],
    [`--db=${db}`, 'topic', 'list', '--json'],
  ]) {
    expect(JSON.parse((await rmq(args, other)).stdout).topics).toHaveLength(1)
  }
})
