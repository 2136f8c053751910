import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  type Broker,
  ConcurrentConsumer,
  type ConcurrentConsumerOptions,
  type ConsumerEvent,
  type MessageListener,
  openBroker,
  Producer,
  RmqError,
} from '../../../src/core/index.ts'
import { PATIENCE } from '../../helpers/consumer.ts'
import { intercept } from '../../helpers/intercept.ts'
import { tempDb } from '../../helpers/temp.ts'

/** A concurrent consumer of `count` messages, of which `change` has replaced some of the broker's members. */
async function consume(
  count: number,
  change: (broker: Broker) => Partial<Broker>,
  listener: MessageListener,
  options: Partial<ConcurrentConsumerOptions>,
) {
  const broker = await openBroker({ db: tempDb() })
  await broker.createTopic({ topic: 't', queues: 1 })
  const bodies = Array.from({ length: count }, (_, i) => String(i))
  await new Producer(broker).sendBatch(bodies.map((body) => ({ topic: 't', body })))
  const events: ConsumerEvent[] = []
  const stop = new AbortController()
  const consumer = new ConcurrentConsumer(intercept(broker, change(broker)), {
    group: 'g',
    topics: ['t'],
    onEvent: (event) => events.push(event),
    ...options,
  })
  const ended = consumer.start(listener, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await ended
    await broker.close()
  })
  return { broker, events }
}

const scheduled = async (broker: Broker) =>
  (await broker.progress('g')).reduce((sum, queue) => sum + queue.scheduled, 0)

it('an answer in time counts, also when it takes longer than the consume timeout to store', async () => {
  const slow = (broker: Broker): Partial<Broker> => ({
    deadLetter: async (...args) => {
      await pause(300)
      return broker.deadLetter(...args)
    },
  })
  const { broker, events } = await consume(1, slow, async () => ({ status: 'dead-letter' }), {
    consumeTimeoutMs: 100,
  })
  await expect.poll(() => events.some(({ kind }) => kind === 'dead-lettered'), PATIENCE).toBe(true)
  await pause(50)
  expect(events.filter(({ kind }) => kind === 'timed-out')).toEqual([])
  expect(await scheduled(broker)).toBe(0)
})

it('of runs that time out together, one that answers while another is sent back is settled by its answer', async () => {
  const answer: (() => void)[] = []
  const slow = (broker: Broker): Partial<Broker> => ({
    sendBack: async (...args) => {
      // The other one answers now.
      for (const each of answer.splice(1)) each()
      await pause(100)
      return broker.sendBack(...args)
    },
  })
  const listener = () => new Promise<void>((resolve) => answer.push(resolve))
  const { broker, events } = await consume(2, slow, listener, { consumeTimeoutMs: 150 })
  const lag = async () => (await broker.progress('g', 't')).map((queue) => queue.lag)
  await expect.poll(() => events.some(({ kind }) => kind === 'timed-out'), PATIENCE).toBe(true)
  await expect.poll(lag, PATIENCE).toEqual([0])
  await pause(200)
  expect(events.filter(({ kind }) => kind === 'timed-out')).toHaveLength(1)
  expect(await scheduled(broker)).toBe(1)
  answer[0]?.()
})

it('a message of a batch that cannot be sent back now runs again by itself, and the others do not', async () => {
  let isBusy = true
  const busy = (broker: Broker): Partial<Broker> => ({
    sendBack: async (...args) => {
      if (!isBusy) return broker.sendBack(...args)
      isBusy = false
      throw new RmqError('STORE_BUSY', 'busy')
    },
  })
  const seen: string[] = []
  const listener: MessageListener = (messages) => {
    const bodies = messages.map(({ body }) => Buffer.from(body).toString())
    seen.push(bodies.join())
    const results = bodies.map((body) => ({
      status: body === '1' && seen.length === 1 ? ('retry' as const) : ('success' as const),
    }))
    return { status: 'success', results }
  }
  const { broker } = await consume(3, busy, listener, { batch: 3, suspendMs: 10 })
  // RocketMQ tries again in 5 s what it could not send back.
  await expect.poll(() => seen, PATIENCE).toEqual(['0,1,2', '1'])
  const committed = async () => (await broker.committedOffsets('g', 't')).map(({ offset }) => offset)
  await expect.poll(committed, PATIENCE).toEqual([3])
  expect(await scheduled(broker)).toBe(0)
})
