import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { cleanEnv, RUN, startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'

/** Runs `rmq ARGS | READER`; its status comes behind what it says on stderr. */
async function pipeInto(db: string, args: readonly string[], reader: string) {
  const script = `{ "$@" 2>&3; echo "status $?" >&3; } 3>&2 | ${reader}`
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, RUN, ...args], {
    env: cleanEnv({ db }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

/** Longer than a pipe holds, so that a record is in it only when its reader took most of it. */
const RECORD_BYTES = 200 * 1024

const records = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: 'k', body: `m${i}`.padEnd(RECORD_BYTES, '.') }))

describe('consume whose reader leaves', () => {
  it('commits the record that was read, ends quietly, and the next one goes on behind it', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, records(4))
    for (const expected of ['m0.', 'm1.', 'm2.']) {
      const { stdout, stderr } = await pipeInto(db, ['consume', 't', '-g', 'g', '--orderly'], 'head -1')
      expect(stdout).toHaveLength(RECORD_BYTES + 1)
      expect(stdout.slice(0, 3)).toBe(expected)
      expect(stderr).toBe('status 0\n')
    }
    const [progress] = JSON.parse((await run(['offsets', 'list', '-g', 'g', '--json'])).stdout).offsets
    expect(progress).toMatchObject({ committedOffset: 3, lag: 1 })
    expect((await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%o %r'])).stdout).toBe('3 0')
  })

  it('commits the one record that was read, whatever the number of queues', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      8,
      records(8).map((message, queueId) => ({ ...message, queueId })),
    )
    const args = ['consume', 't', '-g', 'g', '--orderly', '--json']
    const { stdout, stderr } = await pipeInto(db, args, 'head -1')
    const first = JSON.parse(stdout)
    expect(stderr).toBe('status 0\n')
    const rest = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%p %r\\n'])
    const queues = Array.from({ length: 8 }, (_, queueId) => queueId).filter((id) => id !== first.queueId)
    expect(rest.stdout.trimEnd().split('\n').sort()).toEqual(queues.map((id) => `${id} 0`))
  })

  it('never commits more than was written, with records smaller than the pipe', async () => {
    const { db, run } = shop()
    await run(['topics', 'create', 't', '--queues', '1'])
    const input = Array.from({ length: 3000 }, (_, i) => `${String(i).padEnd(100)}\n`).join('')
    await run(['send', 't', '--key', 'k', '-q'], { input })
    await pipeInto(db, ['consume', 't', '-g', 'g', '--orderly'], 'head -5')
    const [progress] = JSON.parse((await run(['offsets', 'list', '-g', 'g', '--json'])).stdout).offsets
    // What head read, and what the pipe held for it: 64 KiB of records of 101 bytes, and its own buffer.
    expect(progress.committedOffset).toBeGreaterThanOrEqual(5)
    expect(progress.committedOffset).toBeLessThan(3000)
    const rest = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%o\\n'])
    const offsets = rest.stdout.trimEnd().split('\n').map(Number)
    expect(offsets[0]).toBe(progress.committedOffset)
    expect(offsets).toHaveLength(3000 - progress.committedOffset)
  })
})

describe('consume whose reader stands still', () => {
  it('keeps its locks, and goes on when it is read again', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, records(3))
    const child = startRmq(['consume', 't', '-g', 'g', '--orderly', '-e', '--lock-ttl', '600ms'], { db })
    onTestFinished(() => void child.kill('SIGKILL'))
    const stderr = text(child.stderr as NodeJS.ReadableStream)
    const lock = async () => JSON.parse((await run(['locks', 'list', '-g', 'g', '--json'])).stdout).locks[0]
    await expect.poll(lock, { timeout: 10_000, interval: 100 }).toMatchObject({ state: 'held' })
    const before = await lock()
    await expect
      .poll(async () => Date.parse((await lock()).renewedAt) - Date.parse(before.acquiredAt), {
        timeout: 10_000,
      })
      .toBeGreaterThan(1200)
    expect(await lock()).toMatchObject({ state: 'held', epoch: before.epoch })
    const stdout = await text(child.stdout as NodeJS.ReadableStream)
    expect(stdout).toHaveLength(3 * (RECORD_BYTES + 1))
    expect(await stderr).toMatch(/consumed 3 in /)
  })

  it('gives up on it when a stop runs out of time: nothing of it is committed', async () => {
    const { db, run } = shop()
    // More than any pipe or socket holds.
    await seed(db, 't', 1, [{ body: Buffer.alloc(4 * 1024 * 1024, 'x') }])
    const args = ['consume', 't', '-g', 'g', '--orderly', '--drain-timeout', '200ms']
    const child = startRmq(args, { db })
    onTestFinished(() => void child.kill('SIGKILL'))
    const stderr = text(child.stderr as NodeJS.ReadableStream)
    await expect
      .poll(async () => (await run(['locks', 'list', '-g', 'g'])).stdout, { timeout: 10_000, interval: 100 })
      .not.toBe('')
    await new Promise((resolve) => setTimeout(resolve, 200))
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([143, null])
    expect(await stderr).toMatch(/stopped by SIGTERM: consumed 0 .*come again/)
    expect((await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%o %r'])).stdout).toBe('0 0')
  })
})
