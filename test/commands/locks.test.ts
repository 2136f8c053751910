import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { joinGroup } from '../helpers/member.ts'
import { type RmqResult, rmq, startRmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

const RELEASE = ['locks', 'release', '--topic', 'orders', '-g', 'mailer']

/** Both queues of topic orders are locked by this process, which lives. */
async function lockedByUs(look: (db: string) => Promise<void>): Promise<void> {
  const db = tempDb()
  await seed(db, 'orders', 2, [])
  await withBroker(db, async (broker) => {
    await joinGroup(broker, { group: 'mailer', clientId: 'c1', topic: 'orders' })
    await look(db)
  })
}

/** A member that was killed without a chance to give its locks back. */
async function lockedByTheDead(db: string): Promise<void> {
  const consumer = startRmq(['consume', 'orders', '-g', 'mailer', '--orderly', '--client-id', 'c1'], { db })
  await untilLocked(db, 2)
  const exited = once(consumer, 'exit')
  consumer.kill('SIGKILL')
  await exited
}

async function untilLocked(db: string, locks: number): Promise<void> {
  await withBroker(db, async (broker) => {
    for (let i = 0; i < 200; i++) {
      if ((await broker.listLocks({ group: 'mailer' })).length === locks) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`never were ${locks} locks held`)
  })
}

function outcomes({ stdout }: RmqResult): readonly string[] {
  return JSON.parse(stdout).released.map(({ outcome }: { outcome: string }) => outcome)
}

describe('locks list', () => {
  it('shows who owns which queue', () =>
    lockedByUs(async (db) => {
      const { locks } = JSON.parse((await rmq(['locks', 'list', '--json'], { db })).stdout)
      expect(locks).toHaveLength(2)
      expect(locks[0]).toMatchObject({
        topic: 'orders',
        queueId: 0,
        group: 'mailer',
        clientId: 'c1',
        pid: process.pid,
        alive: true,
        epoch: 1,
        state: 'held',
      })
      expect(Date.parse(locks[0].expiresAt) - Date.parse(locks[0].renewedAt)).toBeCloseTo(60_000, -3)
      const text = await rmq(['lock', 'list', '-g', 'mailer', '--topic', 'orders'], { db })
      expect(text.stdout.split('\n')[1]).toMatch(
        new RegExp(`^orders\t1\tmailer\tc1\t${process.pid}@[^\t]+\ttrue\t1\t`),
      )
      expect((await rmq(['locks', 'list', '-g', 'other', '--json'], { db })).stdout).toBe('{"locks":[]}\n')
    }))

  it('shows a dead owner as dead', async () => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    await lockedByTheDead(db)
    const { locks } = JSON.parse((await rmq(['locks', 'list', '--json'], { db })).stdout)
    expect(locks).toMatchObject([
      { alive: false, state: 'dead' },
      { alive: false, state: 'dead' },
    ])
  })
})

describe('locks release', () => {
  it('keeps the lock of a living owner, exit 4, and takes it by force with a higher epoch', () =>
    lockedByUs(async (db) => {
      const kept = await rmq([...RELEASE, '--all', '--yes'], { db })
      expect(kept).toMatchObject({ status: 4, stdout: '' })
      expect(kept.stderr).toContain('LOCK_HELD')
      const taken = await rmq([...RELEASE, '-p', '1', '--force', '--yes', '--json'], { db })
      expect(taken.status).toBe(0)
      expect(JSON.parse(taken.stdout)).toMatchObject({
        released: [{ topic: 'orders', queueId: 1, group: 'mailer', clientId: 'c1', outcome: 'released' }],
        dryRun: false,
      })
      await withBroker(db, async (broker) => {
        expect((await broker.listLocks()).map((lock) => lock.mq.queueId)).toEqual([0])
        const mq = (await broker.subscribeQueues('orders'))[1]
        if (!mq) throw new Error('queue 1 is gone')
        expect(await broker.commitOffsets('mailer', 'c1', [{ mq, offset: 0, epoch: 1 }])).toEqual([false])
      })
    }))

  it('frees what the dead left behind without force', async () => {
    const db = tempDb()
    await seed(db, 'orders', 2, [])
    await lockedByTheDead(db)
    const freed = await rmq([...RELEASE, '--all', '-y', '--json'], { db })
    expect(freed.status).toBe(0)
    expect(outcomes(freed)).toEqual(['released', 'released'])
  })

  it('says what would happen with --dry-run and changes no byte', () =>
    lockedByUs(async (db) => {
      const bytes = () =>
        createHash('sha256')
          .update(readFileSync(db))
          .update(readFileSync(`${db}-wal`))
          .digest('hex')
      const before = bytes()
      const plain = await rmq([...RELEASE, '--all', '--dry-run', '--json'], { db })
      expect(plain.status).toBe(0)
      expect(outcomes(plain)).toEqual(['kept', 'kept'])
      const forced = await rmq([...RELEASE, '--all', '--force', '--dry-run', '--json'], { db })
      expect(outcomes(forced)).toEqual(['released', 'released'])
      expect(bytes()).toBe(before)
    }))

  it.each([
    ['no confirmation', ['--all', '--force'], 'CONFIRMATION_REQUIRED'],
    ['dry run and yes', ['--all', '--dry-run', '--yes'], 'INVALID_ARGUMENT'],
    ['neither a queue nor all', ['--yes'], 'INVALID_ARGUMENT'],
    ['a queue and all', ['--all', '-p', '1', '--yes'], 'INVALID_ARGUMENT'],
  ])('refuses %s with exit 2 and changes nothing', (_, args, code) =>
    lockedByUs(async (db) => {
      const refused = await rmq([...RELEASE, ...args, '--json'], { db })
      expect(refused.status).toBe(2)
      expect(JSON.parse(refused.stdout).error.code).toBe(code)
      expect(JSON.parse((await rmq(['locks', 'list', '--json'], { db })).stdout).locks).toHaveLength(2)
    }),
  )

  it('takes no group from the environment', () =>
    lockedByUs(async (db) => {
      const args = ['locks', 'release', '--topic', 'orders', '--all', '--force', '--yes']
      expect((await rmq(args, { db, env: { RMQ_GROUP: 'mailer' } })).status).toBe(2)
    }))
})

describe('locks watch', () => {
  it('prints events as they happen, also a takeover from the dead, and ends well on SIGINT', async () => {
    const db = tempDb()
    await seed(db, 'orders', 1, [])
    const watch = startRmq(['locks', 'watch', '-g', 'mailer', '--json'], { db })
    onTestFinished(() => void watch.kill('SIGKILL'))
    const events = jsonLines(watch.stdout)
    const consume = (id: string) =>
      startRmq(['consume', 'orders', '-g', 'mailer', '--orderly', '--client-id', id], { db })
    const first = consume('c1')
    expect(await events.next('acquired')).toMatchObject({
      topic: 'orders',
      queueId: 0,
      clientId: 'c1',
      epoch: 1,
    })
    const second = consume('c2')
    onTestFinished(() => void second.kill('SIGKILL'))
    await untilMember(db, 'c2')
    first.kill('SIGKILL')
    expect(await events.next('taken-over')).toMatchObject({ clientId: 'c2', from: 'c1', epoch: 2 })
    second.kill('SIGTERM')
    expect(await events.next('released')).toMatchObject({ clientId: 'c2' })
    const exited = once(watch, 'exit')
    watch.kill('SIGINT')
    expect(await exited).toEqual([0, null])
  })
})

async function untilMember(db: string, clientId: string): Promise<void> {
  await withBroker(db, async (broker) => {
    for (let i = 0; i < 200; i++) {
      if ((await broker.members('mailer')).some((member) => member.clientId === clientId)) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`${clientId} never joined`)
  })
}

/** The events of a stream of NDJSON, one kind at a time; others are passed over. */
function jsonLines(stream: NodeJS.ReadableStream | null) {
  if (!stream) throw new Error('stdout is no pipe')
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]()
  return {
    next: async (event: string): Promise<unknown> => {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`the stream ended before ${event}`)
        const parsed = JSON.parse(value)
        if (parsed.event === event) return parsed
      }
    },
  }
}
