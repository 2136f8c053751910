import { expect, it } from 'vitest'
import { RunningRmq } from '../helpers/consumer.ts'
import { rmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'

async function filled() {
  const one = shop()
  await seed(one.db, 't', 2, [
    { body: 'a0', queueId: 0, tags: 'A' },
    { body: 'b0', queueId: 1, key: 'k' },
    { body: 'a1', queueId: 0 },
  ])
  return one
}

const follow = (db: string, ...args: string[]) => new RunningRmq(db, ['peek', 't', '--follow', ...args])

it('shows what is there, then what arrives in any queue, until it is stopped', async () => {
  const { db, run } = await filled()
  const peek = follow(db)
  await peek.prints('a0\na1\nb0\n')
  await run(['send', 't', 'b1', '-p', '1'])
  await peek.prints('b1\n')
  await run(['send', 't', 'a2', '-p', '0'])
  await peek.prints('a2\n')
  peek.signal('SIGINT')
  expect(await peek.ended).toEqual([0, null])
  expect(peek.stdout).toBe('a0\na1\nb0\nb1\na2\n')
  expect(peek.stderr).toBe('')
  await withBroker(db, async (broker) => {
    expect(await broker.listGroups({ all: true })).toEqual([])
    expect(await broker.listLocks()).toEqual([])
  })
})

it('ends by itself after a count, over all queues', async () => {
  const { db, run } = await filled()
  const peek = follow(db, '-o', 'latest', '-c', '2', '--json')
  for (let i = 0; i < 2; i++) await run(['send', 't', `n${i}`, '-p', '1'])
  // Those that came before it began to follow are not shown.
  for (let i = 2; peek.child.exitCode === null; i++) await run(['send', 't', `n${i}`, '-p', '0'])
  expect(await peek.ended).toEqual([0, null])
  const records = peek.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records).toHaveLength(2)
  expect(records.every(({ body }) => body.startsWith('n'))).toBe(true)
})

it('keeps the order of each queue beside a busy producer', async () => {
  const { db, run } = shop()
  await seed(db, 't', 3, [])
  const peek = follow(db, '-c', '600', '-f', '%p %o\\n')
  const input = Array.from({ length: 300 }, (_, i) => `m${i}`).join('\n')
  await Promise.all([run(['send', 't', '-q'], { input }), run(['send', 't', '-q'], { input })])
  expect(await peek.ended).toEqual([0, null])
  const next = [0, 0, 0]
  for (const line of peek.stdout.trim().split('\n')) {
    const [queue = 0, offset] = line.split(' ').map(Number)
    expect(offset).toBe(next[queue])
    next[queue] = (next[queue] ?? 0) + 1
  }
  expect(next.reduce((sum, count) => sum + count)).toBe(600)
})

it.each([
  ['a tag', ['--tag', 'A'], ['--tag', 'A']],
  ['a key', ['--key', 'k'], ['--key', 'k']],
  ['a queue', ['-p', '1'], ['-p', '1']],
])('shows only what passes %s', async (_, args, passing) => {
  const { db, run } = await filled()
  const peek = follow(db, ...args, '-c', '2')
  await run(['send', 't', 'other', '-p', '0'])
  const chosen = args.includes('-p') ? [] : ['-p', '0']
  await run(['send', 't', 'wanted', ...passing, ...chosen])
  expect(await peek.ended).toEqual([0, null])
  expect(peek.stdout).toBe(`${args[1] === 'A' ? 'a0' : 'b0'}\nwanted\n`)
})

it('begins at an offset that is still to come when its queue gets there', async () => {
  const { db, run } = await filled()
  const peek = follow(db, '-p', '0', '-o', '3', '-c', '1')
  await run(['send', 't', 'a2', '-p', '0'])
  await run(['send', 't', 'a3', '-p', '0'])
  expect(await peek.ended).toEqual([0, null])
  expect(peek.stdout).toBe('a3\n')
})

it('notices a queue that is added', async () => {
  const { db, run } = await filled()
  const peek = follow(db)
  await peek.prints('b0')
  await withBroker(db, (broker) => broker.admin.alterTopic('t', { queues: 3 }))
  await run(['send', 't', 'c0', '-p', '2'])
  // What arrives elsewhere makes it look at once; otherwise it looks every 15 s.
  await run(['send', 't', 'a2', '-p', '0'])
  await peek.prints('c0')
  await peek.prints('a2')
})

it('ends quietly when its reader went away', async () => {
  const { db, run } = await filled()
  const peek = follow(db)
  await peek.prints('b0')
  peek.child.stdout?.destroy()
  await run(['send', 't', 'unread', '-p', '0'])
  expect(await peek.ended).toEqual([0, null])
  expect(peek.stderr).toBe('')
})

it.each([
  [['-o', '1:3'], 2, 'INVALID_ARGUMENT'],
  [['-o', 'committed'], 2, 'INVALID_ARGUMENT'],
  [['--fail-empty'], 2, 'INVALID_ARGUMENT'],
  [['--tag', 'A|B'], 2, 'INVALID_ARGUMENT'],
  [['-p', '2'], 3, 'QUEUE_NOT_FOUND'],
])('--follow %j is refused with %d', async (args, status, code) => {
  const { db } = await filled()
  const refused = await rmq(['peek', 't', '--follow', ...args, '--json'], { db })
  expect(refused.status).toBe(status)
  expect(JSON.parse(refused.stdout).error.code).toBe(code)
})

it('of a topic that is not there is refused, and makes no file', async () => {
  const { run } = shop()
  expect((await run(['peek', 't', '--follow'])).status).toBe(3)
})
