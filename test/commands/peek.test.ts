import { expect, it } from 'vitest'
import { rmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

/** Twelve messages in queue 0, three in queue 2, none in queue 1; every third has tag A, the others B. */
async function filled(): Promise<string> {
  const db = tempDb()
  const message = (queueId: number) => (i: number) => ({
    body: `${queueId}/${i}`,
    queueId,
    key: `k${i}`,
    tags: i % 3 === 0 ? 'A' : 'B',
  })
  await seed(db, 'orders', 3, [
    ...[...Array(12).keys()].map(message(0)),
    ...[...Array(3).keys()].map(message(2)),
  ])
  return db
}

it.each([
  ['ten by default, queue by queue', [], '0/0 0/1 0/2 0/3 0/4 0/5 0/6 0/7 0/8 0/9'],
  ['a count over all queues', ['-p', '2', '-c', '2'], '2/0 2/1'],
  ['everything', ['-c', '0', '-o', '+9'], '0/9 0/10 0/11'],
  ['the last of each queue', ['-o', '-1'], '0/11 2/2'],
  ['an offset', ['-o', '10'], '0/10 0/11'],
  ['a half-open range', ['-o', '1:3'], '0/1 0/2 2/1 2/2'],
  ['a range up to the end', ['-o', '-2:latest', '-p', '0'], '0/10 0/11'],
  ['a time', ['-o', '@-1h', '-p', '2'], '2/0 2/1 2/2'],
  ['a time to come', ['-o', '@2100-01-01', '-c', '0'], ''],
  ['past the end', ['-o', '999'], ''],
  ['latest', ['-o', 'latest'], ''],
  ['a tag', ['--tag', 'A', '-c', '0'], '0/0 0/3 0/6 0/9 2/0'],
  ['one of two tags', ['--tag', 'A || B', '-c', '3'], '0/0 0/1 0/2'],
  ['a key, exactly', ['--key', 'k1', '-c', '0'], '0/1 2/1'],
  ['a key and a tag', ['--key', 'k1', '--tag', 'A'], ''],
])('shows %s', async (_, args, bodies) => {
  const { status, stdout } = await rmq(['peek', 'orders', ...args], { db: await filled() })
  expect({ status, bodies: stdout.split('\n').join(' ').trim() }).toEqual({ status: 0, bodies })
})

it('prints records, formats and raw bodies', async () => {
  const db = await filled()
  const json = await rmq(['peek', 'orders', '-p', '2', '-c', '1', '--json'], { db })
  expect(JSON.parse(json.stdout)).toMatchObject({
    topic: 'orders',
    queueId: 2,
    queueOffset: 0,
    key: 'k0',
    tags: 'A',
    body: '2/0',
    reconsumeTimes: 0,
  })
  const formatted = await rmq(['peek', 'orders', '-p', '2', '-f', '%n %p:%o %k\\n'], { db })
  expect(formatted.stdout).toBe('1 2:0 k0\n2 2:1 k1\n3 2:2 k2\n')
  const raw0 = await rmq(['peek', 'orders', '-p', '2', '--raw0'], { db })
  expect(raw0.stdout).toBe('2/0\x002/1\x002/2\x00')
})

it('gives bytes back as they are', async () => {
  const db = tempDb()
  const body = Uint8Array.from({ length: 256 }, (_, i) => i)
  await seed(db, 'bytes', 1, [{ body }])
  const { stdoutBytes } = await rmq(['peek', 'bytes', '--raw'], { db })
  expect(stdoutBytes).toEqual(Buffer.concat([body, Buffer.from('\n')]))
  const record = JSON.parse((await rmq(['peek', 'bytes', '--json'], { db })).stdout)
  expect(Buffer.from(record.bodyBase64, 'base64')).toEqual(Buffer.from(body))
})

it('leaves no trace', async () => {
  const db = await filled()
  await rmq(['peek', 'orders', '-c', '0'], { db, env: { RMQ_GROUP: 'mailer' } })
  await withBroker(db, async (broker) => {
    expect(await broker.listGroups({ all: true })).toEqual([])
    expect(await broker.listLocks()).toEqual([])
  })
})

it('ends with 7 when there is nothing and that was to fail', async () => {
  const db = await filled()
  expect((await rmq(['peek', 'orders', '-p', '1'], { db })).status).toBe(0)
  const empty = await rmq(['peek', 'orders', '-p', '1', '--fail-empty', '--json'], { db })
  expect(empty.status).toBe(7)
  expect(JSON.parse(empty.stdout).error.code).toBe('EMPTY')
})

it.each([
  [['peek', 'ordres'], 3, 'TOPIC_NOT_FOUND'],
  [['peek', 'orders', '-p', '3'], 3, 'QUEUE_NOT_FOUND'],
  [['peek', 'orders', '-o', 'committed'], 2, 'INVALID_ARGUMENT'],
  [['peek', 'orders', '-o', '9007199254740993'], 2, 'INVALID_ARGUMENT'],
  [['peek', 'orders', '-c', '-1'], 2, 'INVALID_ARGUMENT'],
  [['peek', 'orders', '--tag', 'A|B'], 2, 'INVALID_ARGUMENT'],
  [['peek', 'orders', '-p', '1', '--tag', 'A|B'], 2, 'INVALID_ARGUMENT'],
  [['peek', 'orders', '--raw', '--json'], 2, 'INVALID_ARGUMENT'],
])('%j is refused with %d', async (args, status, code) => {
  const refused = await rmq([...args, '--json'], { db: await filled() })
  expect(refused.status).toBe(status)
  expect(JSON.parse(refused.stdout).error.code).toBe(code)
})
