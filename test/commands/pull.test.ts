import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker, PullConsumer } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { bury, rows } from '../helpers/dead-letters.ts'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { parseLines, shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

type Shop = ReturnType<typeof shop>

/** Topic `t` with `a0 … a4` in queue 0 and `b0 … b2` in queue 1; every even one has tag A. */
async function filled(): Promise<Shop> {
  const one = shop()
  const message = (queueId: number, name: string) => (_: unknown, i: number) => ({
    body: `${name}${i}`,
    queueId,
    ...(i % 2 === 0 && { tags: 'A' }),
    properties: { n: String(i) },
  })
  await seed(one.db, 't', 2, [
    ...Array.from({ length: 5 }, message(0, 'a')),
    ...Array.from({ length: 3 }, message(1, 'b')),
  ])
  return one
}

/** TOPIC QUEUE MIN COMMITTED MAX LAG OWNER. */
const committed = async ({ run }: Shop) =>
  rows((await run(['offsets', 'list', '-g', 'g'])).stdout).map((row) => Number(row[3]))

const lines = (text: string) => text.split('\n').join(' ').trim()

it('goes on where the last pull ended, and leaves nothing held', async () => {
  const one = await filled()
  const pull = (...args: string[]) => one.run(['pull', 't', '-g', 'g', ...args])
  const first = await pull('-c', '3')
  expect(first).toMatchObject({ status: 0, stdout: 'a0\na1\na2\n' })
  expect(first.stderr).toMatch(/group g is new on t and starts at the earliest message/)
  expect(await committed(one)).toEqual([3, 0])
  const second = await pull('-f', '%p:%o %s\\n')
  expect(second).toMatchObject({ stdout: '0:3 a3\n0:4 a4\n1:0 b0\n1:1 b1\n1:2 b2\n', stderr: '' })
  expect(await pull()).toMatchObject({ status: 0, stdout: '', stderr: 'no messages\n' })
  expect((await one.run(['locks', 'list'])).stdout).toBe('')
  expect((await one.run(['verify'])).status).toBe(0)
})

it('prints records that can be sent again', async () => {
  const one = await filled()
  const records = parseLines((await one.run(['pull', 't', '-g', 'g', '-p', '1', '--json'])).stdout)
  expect(records).toMatchObject([
    { topic: 't', queueId: 1, queueOffset: 0, body: 'b0', tags: 'A', reconsumeTimes: 0 },
    { body: 'b1', tags: null },
    { body: 'b2' },
  ])
  expect(await committed(one)).toEqual([0, 3])
})

it('takes 32 when nothing is said', async () => {
  const { db, run } = shop()
  await seed(
    db,
    't',
    1,
    Array.from({ length: 40 }, (_, i) => ({ body: `${i}` })),
  )
  expect(rows((await run(['pull', 't', '-g', 'g'])).stdout)).toHaveLength(32)
  expect(rows((await run(['pull', 't', '-g', 'g'])).stdout)).toHaveLength(8)
})

it.each([
  ['a tag', ['--tag', 'A'], 'a0 a2 a4 b0 b2'],
  ['an SQL expression', ['--sql', "n = '1'"], 'a1 b1'],
])('passes over what %s drops, which is no lag then', async (_, args, found) => {
  const one = await filled()
  expect(lines((await one.run(['pull', 't', '-g', 'g', ...args])).stdout)).toBe(found)
  expect(await committed(one)).toEqual([5, 3])
})

it('without --ack leaves no trace', async () => {
  const one = await filled()
  const look = ['pull', 't', '-g', 'g', '--no-ack']
  expect(lines((await one.run([...look, '-c', '6'])).stdout)).toBe('a0 a1 a2 a3 a4 b0')
  expect((await one.run(['groups', 'list'])).stdout).toBe('')
  await one.run(['pull', 't', '-g', 'g', '-p', '0', '-c', '4'])
  expect(lines((await one.run([...look, '--tag', 'A'])).stdout)).toBe('a4 b0 b2')
  expect(await committed(one)).toEqual([4, 0])
})

it('ends with 7 when there is nothing and that was to fail, with and without --ack', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, [])
  for (const ack of ['--ack', '--no-ack']) {
    const empty = await run(['pull', 't', '-g', 'g', ack, '--fail-empty', '--json'])
    expect(empty.status).toBe(7)
    expect(JSON.parse(empty.stdout).error.code).toBe('EMPTY')
  }
})

it.each(['--ack', '--no-ack'])('waits for a first message with --wait %s', async (ack) => {
  const { db, run } = shop()
  await seed(db, 't', 2, [])
  const pull = new RunningRmq(db, ['pull', 't', '-g', 'g', '--wait', '20s', ack])
  await pull.says(/new on t/)
  await run(['send', 't', 'late', '-p', '1'])
  expect(await pull.ended).toEqual([0, null])
  expect(pull.stdout).toBe('late\n')
})

it('gives up waiting in time, or at a signal', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, [])
  expect(await run(['pull', 't', '-g', 'g', '--wait', '50ms'])).toMatchObject({ status: 0, stdout: '' })
  const pull = new RunningRmq(db, ['pull', 't', '-g', 'g', '--wait', '1h'])
  await expect.poll(async () => (await run(['locks', 'list'])).stdout, PATIENCE).not.toBe('')
  pull.signal('SIGTERM')
  expect(await pull.ended).toEqual([143, null])
  expect((await run(['locks', 'list'])).stdout).toBe('')
})

it('leaves out queues that others hold and says who does; all of them are a conflict', async () => {
  const one = await filled()
  await using broker = await openBroker({ db: one.db })
  await using other = new PullConsumer(broker, { group: 'g', clientId: 'other' })
  const [first, second] = await other.messageQueues('t')
  if (!first || !second) throw new Error('the topic has two queues')
  await other.assign([first])
  const pull = await one.run(['pull', 't', '-g', 'g'])
  expect(pull).toMatchObject({ status: 0, stdout: 'b0\nb1\nb2\n' })
  expect(pull.stderr).toContain(`left out queue 0: held by other (${process.pid}@`)
  expect(await committed(one)).toEqual([0, 3])
  await other.assign([first, second])
  const refused = await one.run(['pull', 't', '-g', 'g', '--json'])
  expect(refused.status).toBe(4)
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    code: 'LOCK_HELD',
    details: { held: [{ queueId: 0, clientId: 'other' }, { queueId: 1 }] },
  })
  // A look needs no lock.
  expect(lines((await one.run(['pull', 't', '-g', 'g', '--no-ack'])).stdout)).toBe('a0 a1 a2 a3 a4')
})

it('brings replayed dead letters first, once', async () => {
  const one = shop()
  await seed(one.db, 't', 1, [{ body: 'good' }, { body: 'bad' }, { body: 'good' }])
  await bury(one, 't')
  await one.run(['send', 't', 'new'])
  await one.run(['dlq', 'replay', '-g', 'g', '--all', '-y'])
  const pull = await one.run(['pull', 't', '-g', 'g', '--json'])
  expect(parseLines(pull.stdout)).toMatchObject([{ body: 'bad', replay: 1, queueOffset: 1 }, { body: 'new' }])
  expect((await one.run(['pull', 't', '-g', 'g'])).stdout).toBe('')
  expect((await one.run(['verify'])).status).toBe(0)
})

it('commits nothing when its reader went away, and is no failure then', async () => {
  const { db, run } = shop()
  const body = 'x'.repeat(64 * 1024)
  await seed(
    db,
    't',
    1,
    Array.from({ length: 30 }, () => ({ body })),
  )
  const script = `${process.execPath} ${RUN} pull t -g g -c 30 | head -c 1; exit "\${PIPESTATUS[0]}"`
  const child = spawn('bash', ['-c', script], { env: cleanEnv({ db }), stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill())
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(stderr).toBe('group g is new on t and starts at the earliest message\n')
  expect(rows((await run(['offsets', 'list', '-g', 'g'])).stdout)[0]?.[3]).toBe('0')
  expect(rows((await run(['pull', 't', '-g', 'g', '-c', '30'])).stdout)).toHaveLength(30)
})

it.each([
  [['pull', 'nowhere', '-g', 'g'], 3, 'TOPIC_NOT_FOUND'],
  [['pull', 't', '-g', 'g', '-p', '2'], 3, 'QUEUE_NOT_FOUND'],
  [['pull', 't', '-g', 'g', '-p', '-1'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '-c', '0'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '-c', 'x'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '--wait', '5'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '--tag', 'A|B'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '--sql', 'a >'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '--sql', 'a = 1', '--tag', 'A'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'g', '-f', '%q'], 2, 'INVALID_ARGUMENT'],
  [['pull', 't', '-g', 'no group'], 2, 'INVALID_NAME'],
  [['pull', 't', '-g', 'g', '--raw', '--json'], 2, 'INVALID_ARGUMENT'],
])('%j is refused with %d, and moves nothing', async (args, status, code) => {
  const one = await filled()
  const refused = await one.run([...args, '--json'])
  expect(refused.status).toBe(status)
  expect(JSON.parse(refused.stdout).error.code).toBe(code)
  expect((await one.run(['groups', 'list'])).stdout).toBe('')
})
