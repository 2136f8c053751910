import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startRmq } from '../helpers/rmq.ts'
import { shop } from '../helpers/shop.ts'
import { seed } from '../helpers/store.ts'
import { tempFolder } from '../helpers/temp.ts'

const numbered = (count: number, key = 'k') =>
  Array.from({ length: count }, (_, i) => ({ key, body: `m${i}` }))

/** A consumer that this test stops. */
function consume(db: string, ...args: string[]) {
  const child = startRmq(['consume', ...args], { db })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    child,
    stdout: text(child.stdout as NodeJS.ReadableStream),
    stderr: text(child.stderr as NodeJS.ReadableStream),
    end: once(child, 'exit'),
  }
}

describe('consume with a handler', () => {
  it('runs a command a message', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(3))
    const log = join(tempFolder(), 'log')
    const handler = `{ cat; echo " $RMQ_KEY $RMQ_QUEUE_OFFSET"; } >> ${log}`
    const { status } = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '--exec', handler])
    expect(status).toBe(0)
    expect(readFileSync(log, 'utf8')).toBe('m0 k 0\nm1 k 1\nm2 k 2\n')
  })

  it('feeds a long-lived command', async () => {
    const { db, run } = shop()
    await seed(
      db,
      't',
      2,
      numbered(20).map((message, i) => ({ ...message, queueId: i % 2 })),
    )
    const handler = `sed -u 's/^{"msgId":\\("[0-9A-F]*"\\).*/{"id":\\1,"status":"success"}/'`
    const { status, stderr } = await run(['consume', 't', '-g', 'g', '--orderly', '-e', '--pipe', handler])
    expect(stderr).toMatch(/consumed 20 in /)
    expect(status).toBe(0)
  })

  it('dead-letters after N further tries, with a line for each step, and goes on', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, [
      { key: 'k', body: 'bad' },
      { key: 'k', body: 'good' },
    ])
    const log = join(tempFolder(), 'log')
    const handler = `read b; echo $b >> ${log}; echo no luck >&2; [ $b = good ]`
    const retry = ['--max-reconsume', '2', '--suspend', '10ms']
    const { status, stderr } = await run([
      'consume',
      't',
      '-g',
      'g',
      '--orderly',
      '-e',
      ...retry,
      '--exec',
      handler,
    ])
    expect(status).toBe(0)
    expect(readFileSync(log, 'utf8')).toBe('bad\nbad\nbad\ngood\n')
    expect(stderr).toMatch(/attempt 1 of 3 of message .*: no luck; next try in 10 ms/)
    expect(stderr.match(/attempt \d of/g)).toHaveLength(1)
    expect(stderr).toMatch(/dead-lettered message .* after 3 attempts: no luck/)
    expect(stderr).toMatch(/consumed 1, dead-lettered 1, failed runs 3 in /)
  })

  it('stops when the handler cannot run, and counts no attempt', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(1))
    const args = ['consume', 't', '-g', 'g', '--orderly', '-e']
    const missing = await run([...args, '--exec', '/nonexistent/handler'])
    expect(missing.status).toBe(1)
    expect(missing.stderr).toMatch(/\[HANDLER_NOT_FOUND\]/)
    expect((await run([...args, '-f', '%r'])).stdout).toBe('0')
  })
})

describe('consume that is stopped', () => {
  it('lets the running handler finish, then goes, and the next one begins behind it', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(3))
    const log = join(tempFolder(), 'log')
    const handler = `cat >> ${log}; sleep 0.5; echo ' done' >> ${log}`
    const consumer = consume(db, 't', '-g', 'g', '--orderly', '--exec', handler)
    await expect.poll(() => existsSync(log)).toBe(true)
    consumer.child.kill('SIGTERM')
    expect(await consumer.end).toEqual([0, null])
    expect(await consumer.stderr).toMatch(/stopped by SIGTERM: consumed 1 in /)
    expect(readFileSync(log, 'utf8')).toBe('m0 done\n')
    const next = await run(['consume', 't', '-g', 'g', '--orderly', '-c', '1', '-f', '%s %r'])
    expect(next.stdout).toBe('m1 0')
  })

  it('ends a handler that does not end in time, says so, and exits as the signal would', async () => {
    const { db, run } = shop()
    await seed(db, 't', 1, numbered(1))
    const log = join(tempFolder(), 'log')
    const handler = `cat >> ${log}; exec sleep 30`
    const consumer = consume(db, 't', '-g', 'g', '--orderly', '--drain-timeout', '200ms', '--exec', handler)
    await expect.poll(() => existsSync(log)).toBe(true)
    consumer.child.kill('SIGINT')
    expect(await consumer.end).toEqual([130, null])
    expect(await consumer.stderr).toMatch(/stopped by SIGINT: consumed 0 .*come again/)
    expect((await run(['locks', 'list', '-g', 'g'])).stdout).toBe('')
    expect((await run(['consume', 't', '-g', 'g', '--orderly', '-e', '-f', '%s %r'])).stdout).toBe('m0 0')
  })

  it('ends at once at the second signal', async () => {
    const { db } = shop()
    await seed(db, 't', 1, numbered(1))
    const log = join(tempFolder(), 'log')
    const consumer = consume(db, 't', '-g', 'g', '--orderly', '--exec', `cat >> ${log}; exec sleep 3`)
    await expect.poll(() => existsSync(log)).toBe(true)
    consumer.child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(consumer.child.exitCode).toBeNull()
    consumer.child.kill('SIGTERM')
    expect(await consumer.end).toEqual([143, null])
  })
})
