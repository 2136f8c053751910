import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { PATIENCE, RunningRmq } from '../helpers/consumer.ts'
import { shop } from '../helpers/shop.ts'
import { withBroker } from '../helpers/store.ts'

const QUEUES = 4
const COUNT = 6000
/** Processes that deliver; all but one of them are killed while they do. */
const PROCESSES = 3
/** Time for them to start in. */
const HEAD_START_MS = 4000
/** Due times lie close together, so that there are many writes to be killed in. */
const PER_MS = 4

it('processes that are killed while they deliver: each message comes once, in order, and not early', async () => {
  const { db, run } = shop()
  const dueAt = await storeDelayed(db)
  const file = new Database(db, { readonly: true })
  onTestFinished(() => {
    file.close()
  })
  const left = file.prepare<[], number>('select count(*) from delayed_message').pluck()
  const members = Array.from({ length: PROCESSES }, (_, i) => {
    return new RunningRmq(db, ['consume', 'idle', '-g', `g${i}`, '--orderly'])
  })
  for (const member of members) await member.says(/g\d is new on idle/)

  let deaths = 0
  while (left.get() !== 0) {
    const isTime = (left.get() ?? 0) < COUNT * (1 - (deaths + 1) / PROCESSES)
    if (isTime && deaths < PROCESSES - 1) members[deaths++]?.signal('SIGKILL')
    await sleep(1)
  }
  expect(deaths).toBe(PROCESSES - 1)

  const bodies = await storedBodies(db, dueAt)
  const expected = Array.from({ length: QUEUES }, (_, queueId) =>
    Array.from({ length: COUNT / QUEUES }, (__, i) => i * QUEUES + queueId),
  )
  expect(bodies).toEqual(expected)
  expect((await run(['verify'])).status).toBe(0)
  await expect.poll(() => members.at(-1)?.child.exitCode, PATIENCE).toBeNull()
})

/** Message i goes to queue i % QUEUES; answers when each is due. */
async function storeDelayed(db: string): Promise<(i: number) => number> {
  return await withBroker(db, async (broker) => {
    for (const topic of ['t', 'idle']) await broker.createTopic({ topic, queues: QUEUES })
    const start = Date.now() + HEAD_START_MS
    const dueAt = (i: number) => start + Math.floor(i / PER_MS)
    const groups = Array.from({ length: QUEUES }, (_, queueId) => ({
      mq: { topic: 't', brokerName: 'embedded', queueId },
      messages: Array.from({ length: COUNT / QUEUES }, (__, n) => {
        const i = n * QUEUES + queueId
        return { topic: 't', body: `${i}`, deliverAt: dueAt(i) }
      }),
    }))
    await broker.send(groups)
    return dueAt
  })
}

/** Queue by queue, by offset. */
async function storedBodies(db: string, dueAt: (i: number) => number): Promise<number[][]> {
  return await withBroker(db, async (broker) => {
    const queues: number[][] = []
    for (const { mq, maxOffset } of await broker.queueStats('t')) {
      const bodies: number[] = []
      while (bodies.length < maxOffset) {
        const { messages } = await broker.pull({ mq, offset: bodies.length, maxMessages: 1000, waitMs: 0 })
        for (const { body, queueOffset, storeTimestamp } of messages) {
          expect(queueOffset).toBe(bodies.length)
          const i = Number(Buffer.from(body).toString())
          expect(storeTimestamp).toBeGreaterThanOrEqual(dueAt(i))
          bodies.push(i)
        }
      }
      queues.push(bodies)
    }
    return queues
  })
}
