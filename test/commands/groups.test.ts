import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { joinGroup } from '../helpers/member.ts'
import { rmq, startRmq } from '../helpers/rmq.ts'
import { seed, withBroker } from '../helpers/store.ts'
import { tempDb } from '../helpers/temp.ts'

/** Three messages in two queues; one of them is committed by a living member that holds both locks. */
async function consumedInPart(db: string, look: () => Promise<void>): Promise<void> {
  await seed(db, 'orders', 2, [
    { body: 'a', queueId: 0 },
    { body: 'b', queueId: 0 },
    { body: 'c', queueId: 1 },
  ])
  await withBroker(db, async (broker) => {
    const [grant] = await joinGroup(broker, { group: 'mailer', clientId: 'c1', topic: 'orders' })
    if (!grant?.granted) throw new Error('the lock was not granted')
    await broker.commitOffsets('mailer', 'c1', [{ mq: grant.mq, offset: 1, epoch: grant.epoch }])
    await look()
  })
}

it('lists groups with members and lag', async () => {
  const db = tempDb()
  await consumedInPart(db, async () => {
    const json = await rmq(['groups', 'list', '--json'], { db })
    expect(JSON.parse(json.stdout)).toEqual({
      groups: [
        {
          group: 'mailer',
          topics: ['orders'],
          members: 1,
          lag: 2,
          maxReconsume: -1,
          suspendMs: 1000,
          consumeEnable: true,
          trace: false,
          state: 'active',
        },
      ],
    })
    const text = await rmq(['groups', 'list'], { db })
    expect(text.stdout).toBe('mailer\torders\t1\t2\tunlimited\tactive\t1s\tfalse\n')
  })
  const left = JSON.parse((await rmq(['groups', 'list', '--json'], { db })).stdout)
  expect(left.groups).toMatchObject([{ group: 'mailer', members: 0, state: 'inactive' }])
})

it('describes a group: its members and how far each queue is', async () => {
  const db = tempDb()
  await consumedInPart(db, async () => {
    const json = await rmq(['group', 'describe', 'mailer', '--json'], { db })
    expect(JSON.parse(json.stdout)).toMatchObject({
      group: 'mailer',
      suspendMs: 1000,
      memberList: [{ clientId: 'c1', pid: process.pid, state: 'alive', mode: 'orderly' }],
      queues: [
        { queueId: 0, committedOffset: 1, maxOffset: 2, lag: 1, owner: 'c1', blocked: null },
        { queueId: 1, maxOffset: 1, lag: 1, owner: 'c1', blocked: null },
      ],
    })
    const text = await rmq(['groups', 'describe', 'mailer'], { db })
    expect(text.stdout).toContain('\nlag\t2\n')
    expect(text.stdout).toContain('\norders\t0\t0\t1\t2\t1\t0\tc1\n')
  })
})

it('shows the head that blocks a group', async () => {
  const db = tempDb()
  await consumedInPart(db, async () => {
    await withBroker(db, async (broker) => {
      const lock = (await broker.listLocks({ group: 'mailer', topic: 'orders', queueId: 0 }))[0]
      if (!lock) throw new Error('the lock is gone')
      const fence = { group: 'mailer', clientId: 'c1', mq: lock.mq, epoch: lock.epoch }
      await broker.attempts?.start(fence, [{ offset: 1, replay: 0 }])
      const failure = { offset: 1, replay: 0, attempts: 3, lastError: 'no\u001b route', nextTryAt: null }
      await broker.attempts?.fail(fence, [failure])
    })
    const json = JSON.parse((await rmq(['groups', 'describe', 'mailer', '--json'], { db })).stdout)
    expect(json).toMatchObject({ state: 'blocked' })
    expect(json.queues[0].blocked).toMatchObject({ queueOffset: 1, attempts: 3, nextTryAt: null })
    const text = await rmq(['groups', 'describe', 'mailer'], { db })
    expect(text.stdout).toContain('orders:0\t1\t-\t3\t-\tno\\e route\n')
  })
})

it('lists the offsets of a group', async () => {
  const db = tempDb()
  await consumedInPart(db, async () => {
    const json = await rmq(['offsets', 'list', '-g', 'mailer', '--topic', 'orders', '--json'], { db })
    const [first] = JSON.parse(json.stdout).offsets
    expect(first).toEqual({
      topic: 'orders',
      queueId: 0,
      minOffset: 0,
      committedOffset: 1,
      maxOffset: 2,
      lag: 1,
      owner: 'c1',
    })
    const byEnvironment = await rmq(['offset', 'list', '--json'], { db, env: { RMQ_GROUP: 'mailer' } })
    expect(byEnvironment).toMatchObject({ stdout: json.stdout, stderr: '' })
  })
})

it('never takes the group "default" without a word', async () => {
  const { status, stderr } = await rmq(['offsets', 'list'], { db: tempDb() })
  expect(status).toBe(3)
  expect(stderr).toContain('using "default"')
})

it.each([
  [['groups', 'describe', 'mialer'], 'GROUP_NOT_FOUND'],
  [['offsets', 'list', '-g', 'mialer'], 'GROUP_NOT_FOUND'],
  [['offsets', 'list', '-g', 'mailer', '--topic', 'ordres'], 'TOPIC_NOT_FOUND'],
])('%j is not found', async (args, code) => {
  const db = tempDb()
  await consumedInPart(db, async () => {})
  const { status, stdout } = await rmq([...args, '--json'], { db })
  expect(status).toBe(3)
  expect(JSON.parse(stdout).error).toMatchObject({ code, hint: expect.stringContaining('did you mean') })
})

it('describes a group again whenever it changes, until it is stopped', () => {
  const db = tempDb()
  return consumedInPart(db, async () => {
    const watch = startRmq(['groups', 'describe', 'mailer', '-w', '--json'], { db })
    onTestFinished(() => void watch.kill('SIGKILL'))
    let text = ''
    watch.stdout?.on('data', (chunk) => {
      text += chunk
    })
    const lags = () =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).lag)
    await expect.poll(lags).toHaveLength(1)
    const [lag] = lags()
    await rmq(['send', 'orders', 'one more'], { db })
    await expect.poll(() => lags().at(-1)).toBe(lag + 1)
    const exited = once(watch, 'exit')
    watch.kill('SIGINT')
    expect(await exited).toEqual([0, null])
  })
})
