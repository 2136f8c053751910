import { expect, it } from 'vitest'
import { type ConsumerEvent, OrderlyConsumer, openBroker, Producer } from '../../../src/core/index.ts'
import { PATIENCE } from '../../helpers/consumer.ts'
import { tempDb } from '../../helpers/temp.ts'

it('a disabled group ends what it does, waits, and goes on when it is enabled', async () => {
  const db = tempDb()
  await using broker = await openBroker({ db })
  // People change settings from another process.
  await using outside = await openBroker({ db })
  await broker.createTopic({ topic: 't', queues: 2 })
  const send = (queueId: number, ...bodies: string[]) =>
    new Producer(outside).sendBatch(
      bodies.map((body) => ({ topic: 't', body })),
      { queueId },
    )
  await send(0, 'a', 'b')
  const events: ConsumerEvent[] = []
  const notices = () => events.flatMap((event) => (event.kind === 'notice' ? [event.text] : []))
  const stop = new AbortController()
  const consumer = new OrderlyConsumer(broker, {
    group: 'g',
    topics: ['t'],
    onEvent: (event) => events.push(event),
  })
  const done: string[] = []
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const run = consumer.start(
    async ([message]) => {
      if (done.length === 0) await held
      done.push(Buffer.from(message?.body ?? []).toString())
      return 'success' as const
    },
    { signal: stop.signal },
  )
  await expect.poll(async () => (await outside.listLocks({ group: 'g' })).length, PATIENCE).toBe(2)
  await outside.admin.alterGroup('g', { consumeEnable: false })
  // The idle queue is given back at once, the other one when its handler has ended.
  await expect
    .poll(async () => (await outside.listLocks()).map(({ mq }) => mq.queueId), PATIENCE)
    .toEqual([0])
  letGo()
  await expect.poll(() => outside.listLocks(), PATIENCE).toEqual([])
  expect(done).toEqual(['a'])
  expect((await outside.committedOffsets('g', 't')).map(({ offset }) => offset)).toEqual([1, 0])
  expect(notices()).toEqual([expect.stringMatching(/^group g is disabled/)])
  expect(events.filter(({ kind }) => kind === 'lock-lost')).toEqual([])

  await send(1, 'c')
  await outside.admin.alterGroup('g', { consumeEnable: true })
  await expect.poll(() => [...done].sort(), PATIENCE).toEqual(['a', 'b', 'c'])
  expect(notices().slice(1)).toEqual(['group g is enabled again'])
  stop.abort()
  expect(await run).toMatchObject({ consumed: 3, failed: 0, drained: true })
})

it('a member of a group that is disabled when it starts is told so, and waits', async () => {
  await using broker = await openBroker({ db: tempDb() })
  await broker.createTopic({ topic: 't', queues: 1 })
  await broker.admin.createGroup({ group: 'g', consumeEnable: false })
  await new Producer(broker).send({ topic: 't', body: 'a' })
  const notices: string[] = []
  const consumer = new OrderlyConsumer(broker, {
    group: 'g',
    topics: ['t'],
    // It has no queue whose end it could be at: a job that came to nothing would end as if all were done.
    exitAtEnd: true,
    onEvent: (event) => event.kind === 'notice' && notices.push(event.text),
  })
  let runs = 0
  const run = consumer.start(async () => {
    runs++
    return 'success' as const
  })
  await expect.poll(() => notices, PATIENCE).toEqual([expect.stringMatching(/--consume-enable/)])
  expect((await broker.members('g')).map(({ state }) => state)).toEqual(['alive'])
  expect(runs).toBe(0)
  await broker.admin.alterGroup('g', { consumeEnable: true })
  expect(await run).toMatchObject({ consumed: 1 })
})

it('the settings of the group are those of a member that says none', async () => {
  await using broker = await openBroker({ db: tempDb() })
  await broker.createTopic({ topic: 't', queues: 1 })
  await broker.admin.createGroup({ group: 'g', maxReconsumeTimes: 2, suspendMs: 10 })
  await new Producer(broker).send({ topic: 't', body: 'a' })
  let runs = 0
  const fail = async () => {
    runs++
    throw new Error('boom')
  }
  const options = { group: 'g', topics: ['t'], exitAtEnd: true }
  expect(await new OrderlyConsumer(broker, options).start(fail)).toMatchObject({ deadLettered: 1 })
  expect(runs).toBe(3)
})
