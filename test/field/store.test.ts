import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/core/index.ts'
import { PATIENCE, RunningRmq, startConsumer } from '../helpers/consumer.ts'
import { startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

const MIB = 1024 * 1024

it('sixteen senders, four consumers and lists all the time: nobody sees a locked database', async () => {
  const SENDERS = 16
  const EACH = 60
  const { db, run, records } = shop()
  await seed(db, 't', 4, [])
  const consumers = Array.from({ length: 4 }, () => startConsumer(db, 't', '-f', '%k %s\\n'))
  let isOver = false
  const looks = ['offsets list -g g', 'locks list', 'dlq list'].map(async (command) => {
    const seen: unknown[] = []
    while (!isOver) {
      const { status, stderr } = await run([...command.split(' '), '-q'])
      // The group comes into being with its first consumer.
      if (status !== 3) seen.push([command, status, stderr])
    }
    return seen
  })
  const sends = await Promise.all(
    Array.from({ length: SENDERS }, (_, s) => {
      const input = Array.from({ length: EACH }, (_, i) => `k${i % 4}:${s} ${i}\n`).join('')
      // Slow enough that each message is a transaction of its own.
      return run(['send', 't', '--key-delimiter', ':', '--rate', '40/s', '-q'], { input, timeoutMs: 40_000 })
    }),
  )
  for (const { status, stderr } of sends) expect([status, stderr]).toEqual([0, ''])
  isOver = true
  for (const seen of await Promise.all(looks)) {
    for (const [, status, stderr] of seen as unknown[][]) expect([status, stderr]).toEqual([0, ''])
  }
  const stored = await records('t')
  expect(stored).toHaveLength(SENDERS * EACH)
  const next = new Map<number, number>()
  const last = new Map<string, number>()
  for (const { queueId, queueOffset, key, body } of stored) {
    expect(queueOffset).toBe(next.get(queueId) ?? 0)
    next.set(queueId, queueOffset + 1)
    const [sender, i] = body.split(' ')
    expect(Number(i)).toBeGreaterThan(last.get(`${sender} ${key}`) ?? -1)
    last.set(`${sender} ${key}`, Number(i))
  }
  const consumed = () =>
    consumers.flatMap(({ stdout }) => stdout.trimEnd().split('\n')).filter((line) => line !== '')
  await expect.poll(() => consumed().length, PATIENCE).toBe(SENDERS * EACH)
  for (const consumer of consumers) {
    consumer.signal('SIGTERM')
    expect(await consumer.ended).toEqual([0, null])
    expect(consumer.stderr).not.toMatch(/locked|busy|error/i)
  }
  expect((await run(['verify'])).status).toBe(0)
}, 60_000)

it('readers that stand still do not keep the write-ahead log from being folded', async () => {
  const { db } = shop()
  const COUNT = 100_000
  const body = 'x'.repeat(1000)
  await seed(
    db,
    't',
    4,
    Array.from({ length: 400 }, (_, i) => ({ body, queueId: i % 4 })),
  )
  // Two that nobody reads from, and one that only watches.
  const paused = [
    ['consume', 't', '-g', 'g', '--orderly', '--json'],
    ['peek', 't', '-c', '0', '--json'],
  ].map((args) => {
    const child = startRmq(args, { db })
    const exited = once(child, 'exit')
    onTestFinished(() => void child.kill('SIGKILL'))
    return { child, exited }
  })
  const watch = new RunningRmq(db, ['locks', 'watch', '-g', 'g', '--json'])
  await watch.prints('"acquired"')
  const broker = await openBroker({ db })
  const send = new RunningRmq(db, ['send', 't', '-q'])
  let largest = 0
  const timer = setInterval(() => {
    largest = Math.max(largest, statSync(`${db}-wal`, { throwIfNoEntry: false })?.size ?? 0)
  }, 20)
  onTestFinished(() => clearInterval(timer))
  for (let sent = 0; sent < COUNT; sent += 500) {
    if (!send.child.stdin?.write(`${body}\n`.repeat(500)))
      await once(send.child.stdin as NodeJS.WritableStream, 'drain')
  }
  send.child.stdin?.end()
  expect(await send.ended).toEqual([0, null])
  expect(send.stderr).toBe('')
  const stats = await broker.queueStats('t')
  expect(stats.reduce((sum, { maxOffset }) => sum + maxOffset, 0)).toBe(COUNT + 400)
  expect(largest).toBeGreaterThan(0)
  expect(largest).toBeLessThan(64 * MIB)
  expect(statSync(db).size).toBeGreaterThan(90 * MIB)
  for (const { child, exited } of paused) {
    child.kill('SIGKILL')
    await exited
  }
  watch.signal('SIGINT')
  await watch.ended
  await broker.close()
  expect(existsSync(`${db}-wal`) ? statSync(`${db}-wal`).size : 0).toBeLessThan(MIB)
}, 60_000)
