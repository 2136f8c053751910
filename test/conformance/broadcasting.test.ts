import { expect, it } from 'vitest'
import { numbers, PATIENCE, sendAll, startConcurrent, startOrderly } from './clients.ts'
import { conformance } from './world.ts'

const model = { messageModel: 'broadcasting' } as const

conformance('a broadcasting group', (world) => {
  it('gives every message to every member, in order when orderly', async () => {
    const [one, two] = [await world().connect(), await world().connect()]
    await one.createTopic({ topic: 'T', queues: 2 })
    await sendAll(one, 'T', numbers(50))
    const members = [startOrderly(one, { topic: 'T', ...model }), startOrderly(two, { topic: 'T', ...model })]
    for (const { seen } of members) await expect.poll(() => seen, PATIENCE).toEqual(numbers(50))
    expect(await one.listLocks({ group: 'g' })).toEqual([])
    expect(members[0]?.clientId).not.toBe(members[1]?.clientId)
  })

  it('goes on where it was after a restart', async () => {
    const one = await world().connect()
    await one.createTopic({ topic: 'T', queues: 2 })
    await sendAll(one, 'T', ['a', 'b'])
    const first = startConcurrent(one, { topic: 'T', ...model })
    await expect.poll(() => [...first.seen].sort(), PATIENCE).toEqual(['a', 'b'])
    await first.stop()
    await sendAll(one, 'T', ['c'])
    const second = startConcurrent(one, { topic: 'T', ...model })
    await expect.poll(() => second.seen, PATIENCE).toEqual(['c'])
    await second.stop()
    expect(second.seen).toEqual(['c'])
  })

  it('gives up what fails when concurrent, as RocketMQ does, and says so', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['bad', 'good'])
    const consumer = startConcurrent(broker, { topic: 'T', ...model, listener: () => 'retry' })
    await expect.poll(() => consumer.events.filter(({ kind }) => kind === 'dropped').length, PATIENCE).toBe(2)
    expect(await consumer.stop()).toMatchObject({ dropped: 2, sentBack: 0, deadLettered: 0 })
  })

  it('tries again in place when orderly', async () => {
    const broker = await world().connect()
    await sendAll(broker, 'T', ['a', 'b'])
    let runs = 0
    const consumer = startOrderly(broker, {
      topic: 'T',
      ...model,
      suspendMs: 10,
      listener: () => (++runs < 3 ? 'retry' : 'success'),
    })
    await expect.poll(() => consumer.seen, PATIENCE).toEqual(['a', 'a', 'a', 'b'])
  })
})
