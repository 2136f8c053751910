import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openBroker, Producer, systemRuntime } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq, startConsumer } from '../helpers/consumer.ts'
import { bury, json, withDeadLetters } from '../helpers/dead-letters.ts'
import { HandlerLog } from '../helpers/handler-log.ts'
import { cleanEnv, RUN } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { buryAll } from '../helpers/undertaker.ts'

const DAY_MS = 24 * 60 * 60 * 1000

async function withMany(count: number) {
  const one = shop()
  await one.run(['topics', 'create', 't', '--queues', '4'])
  const input = Array.from({ length: count }, (_, i) => `k${i % 20}:m${i}\n`).join('')
  await one.run(['send', 't', '--key-delimiter', ':', '-q'], { input })
  await withBroker(one.db, (broker) => buryAll(broker, 't'))
  const countOf = async (state: string) =>
    (await json(one.run(['dlq', 'list', '-g', 'g', '--state', state, '--json']))).deadLetters.length as number
  return { ...one, countOf }
}

describe('a replay that fails', () => {
  it('for single messages: each has its result, the sum is right, and they stay where they are', async () => {
    const { run, records } = await withDeadLetters(['a', 'much too long', 'b', 'also too long'])
    await run(['topics', 'create', 'small', '--queues', '1', '--max-body', '5'])
    const replay = await run(['dlq', 'replay', '-g', 'g', '--all', '--to-topic', 'small', '--yes', '--json'])
    expect(replay.status).toBe(6)
    const { results, summary } = JSON.parse(replay.stdout)
    expect(results.map(({ status }: { status: string }) => status)).toEqual([
      'replayed',
      'failed',
      'replayed',
      'failed',
    ])
    expect(results[1].reason).toMatch(/13.*5|5.*13/)
    expect(new Set(results.map(({ msgId }: { msgId: string }) => msgId)).size).toBe(4)
    expect(summary).toMatchObject({ matched: 4, replayed: 2, skipped: 0, failed: 2, remaining: 0 })
    expect((await records('small')).map(({ body }) => body)).toEqual(['a', 'b'])
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters.map(({ body }: { body: string }) => body)).toEqual(['much too long', 'also too long'])
  })

  it('because the disk takes no more: says so, loses none, and goes on when there is room', async () => {
    const { db, run, countOf } = await withMany(300)
    // 512-byte blocks: no file may grow beyond 96 KiB, whoever runs this.
    const script = 'ulimit -f 192; exec "$0" "$@"'
    const args = ['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json']
    const full = spawnSync('sh', ['-c', script, process.execPath, RUN, ...args], { env: cleanEnv({ db }) })
    expect([1, 6]).toContain(full.status)
    expect(full.stdout.toString() + full.stderr.toString()).toMatch(/full|space|too large|limit|I\/O|write/i)
    const dead = await countOf('dead')
    expect(dead).toBeGreaterThan(0)
    expect(dead + (await countOf('replayed'))).toBe(300)
    const rest = await json(run(args))
    expect(rest.summary).toMatchObject({ matched: dead, replayed: dead, failed: 0 })
    await withBroker(db, async (broker) => expect(new Set(await buryAll(broker, 't', /$^/)).size).toBe(300))
    expect((await run(['verify'])).status).toBe(0)
  })
})

describe('many dead letters', () => {
  it('a limit says what it leaves over, and the rest is replayed to the last one', async () => {
    const { run, countOf } = await withMany(1200)
    const args = ['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json']
    const first = await run([...args, '--limit', '500'])
    expect(first.status).toBe(6)
    expect(JSON.parse(first.stdout).results).toHaveLength(500)
    expect(JSON.parse(first.stdout).summary).toMatchObject({ replayed: 500, remaining: 700, truncated: true })
    const rest = await run(args)
    expect(rest.status).toBe(0)
    expect(JSON.parse(rest.stdout).summary).toMatchObject({ replayed: 700, remaining: 0, truncated: false })
    expect(await countOf('dead')).toBe(0)
  })

  it('one of forty days ago is found by its id among newer ones', async () => {
    const { db, run } = shop()
    const runtime = { ...systemRuntime, now: () => systemRuntime.now() - 40 * DAY_MS }
    const old = await openBroker({ db, runtime })
    await old.createTopic({ topic: 't', queues: 1 })
    const { msgId } = await new Producer(old, {}).send({ topic: 't', key: 'k', body: 'old' })
    await buryAll(old, 't')
    await old.close()
    await run(['send', 't', '--key', 'k', '-q'], { input: 'new\n'.repeat(1500) })
    await withBroker(db, (broker) => buryAll(broker, 't'))
    const replay = await json(run(['dlq', 'replay', '-g', 'g', msgId, '--yes', '--json']))
    expect(replay).toMatchObject({
      results: [{ msgId, status: 'replayed', queueOffset: 0 }],
      summary: { matched: 1, replayed: 1 },
    })
    const { deadLetters } = await json(
      run(['dlq', 'show', '-g', 'g', '--state', 'replayed', '--until', '-39d', '--json']),
    )
    expect(deadLetters).toMatchObject([{ body: 'old', msgId }])
  })

  it('are replayed at a pace, without those of one key', async () => {
    const { run, countOf } = await withMany(60)
    const startedAt = performance.now()
    const args = ['dlq', 'replay', '-g', 'g', '--all', '--not-key', 'k3', '--rate', '50/s', '--yes', '--json']
    const replay = await run(args)
    expect(replay.status).toBe(0)
    expect(JSON.parse(replay.stdout).summary).toMatchObject({ matched: 57, replayed: 57, skipped: 0 })
    // 56 pauses of 20 ms: that it is no faster does not depend on the machine.
    expect(performance.now() - startedAt).toBeGreaterThan(1000)
    expect(await countOf('dead')).toBe(3)
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters.map(({ key }: { key: string }) => key)).toEqual(['k3', 'k3', 'k3'])
  })
})

it('a replayed message that fails again is a dead letter again, its attempts counted anew', async () => {
  const { db, run } = shop()
  await seed(db, 't', 1, [{ key: 'k', body: 'bad' }])
  const log = new HandlerLog()
  const retry = ['--max-reconsume', '1', '--suspend', '10ms']
  const consume = ['consume', 't', '-g', 'g', '--orderly', '-e', ...retry, '--exec', log.command('exit 1')]
  const ids = new Set<string>()
  for (let round = 0; round < 3; round++) {
    expect((await run(consume)).status).toBe(0)
    expect(log.bodies()).toHaveLength(2 * (round + 1))
    const { deadLetters } = await json(run(['dlq', 'list', '-g', 'g', '--json']))
    expect(deadLetters).toMatchObject([{ body: 'bad', attempts: 2, replays: round, state: 'dead' }])
    ids.add(deadLetters[0].msgId)
    const { summary } = await json(run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json']))
    expect(summary).toMatchObject({ replayed: 1 })
  }
  expect(ids.size).toBe(1)
  const last = await run(['consume', 't', '-g', 'g', '--orderly', '-e'])
  expect(last.stdout).toBe('bad\n')
  expect((await run(['verify'])).status).toBe(0)
})

it('a replayed message keeps the key and the queue that a new one of its key gets', async () => {
  const one = shop()
  await seed(one.db, 't', 8, [{ key: 'order-17', body: 'bad' }])
  await bury(one, 't')
  await one.run(['dlq', 'replay', '-g', 'g', '--all', '--yes'])
  const { sent } = await json(one.run(['send', 't', 'good', '--key', 'order-17', '--json']))
  const consumed = await one.run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%p %k %s\\n'])
  const queueId = sent[0].queueId
  expect(consumed.stdout).toBe(`${queueId} order-17 bad\n${queueId} order-17 good\n`)
})

it.each([
  ['at a pace', [['--all', '--rate', '50/s']]],
  ['one at a time', Array(3).fill(['--all', '--limit', '1'])],
])('replayed against live messages of their key, %s, they keep their order', async (_how, replays) => {
  const { db, run } = shop()
  const bodies = ['1', 'bad 3', '4', 'bad 5', '6', 'bad 9']
  await seed(
    db,
    't',
    1,
    bodies.map((body) => ({ key: 'K', body })),
  )
  await withBroker(db, (broker) => buryAll(broker, 't', /bad/))
  const consumer = startConsumer(db, 't', '-f', '%s\\n')
  const input = Array.from({ length: 100 }, (_, i) => `${100 + i}\n`).join('')
  const live = run(['send', 't', '--key', 'K', '--rate', '100/s', '-q'], { input })
  await consumer.prints('105\n')
  for (const args of replays) {
    const replay = await run(['dlq', 'replay', '-g', 'g', ...args, '--yes', '--json'])
    expect(JSON.parse(replay.stdout).summary.replayed).toBeGreaterThan(0)
  }
  await live
  const seen = () => consumer.stdout.trimEnd().split('\n')
  await expect.poll(() => seen().length, PATIENCE).toBe(103)
  expect(seen().filter((body) => body.startsWith('bad'))).toEqual(['bad 3', 'bad 5', 'bad 9'])
  expect(seen().filter((body) => !body.startsWith('bad'))).toEqual(input.trimEnd().split('\n'))
  expect((await run(['verify'])).status).toBe(0)
})

it('where nothing ever died: an empty list, an unknown group is not found, and no file appears', async () => {
  const { db, run } = shop()
  expect(await json(run(['dlq', 'list', '--json']))).toEqual({ groups: [] })
  const commands = [
    ['list'],
    ['show'],
    ['export'],
    ['replay', '--all', '--yes'],
    ['purge', '--confirm', 'nope'],
  ]
  for (const args of commands) {
    const { status, stdout } = await run(['dlq', ...args, '-g', 'nope', '--json'])
    expect([status, JSON.parse(stdout).error.code]).toEqual([3, 'GROUP_NOT_FOUND'])
  }
  expect(existsSync(db)).toBe(false)
})

it('a replay that is interrupted half way says what is done and what remains, as the store has it', async () => {
  const { db, run, countOf } = await withMany(100)
  const replay = new RunningRmq(db, [
    'dlq',
    'replay',
    '-g',
    'g',
    '--all',
    '--rate',
    '40/s',
    '--yes',
    '--json',
  ])
  await expect.poll(() => countOf('replayed'), PATIENCE).toBeGreaterThan(10)
  replay.signal('SIGINT')
  expect(await replay.ended).toEqual([130, null])
  const { summary } = JSON.parse(replay.stdout)
  expect(summary).toMatchObject({ matched: 100, interrupted: true })
  expect([summary.replayed, summary.remaining]).toEqual([await countOf('replayed'), await countOf('dead')])
  const rest = await json(run(['dlq', 'replay', '-g', 'g', '--all', '--yes', '--json']))
  expect(rest.summary).toMatchObject({ replayed: summary.remaining, remaining: 0 })
})
