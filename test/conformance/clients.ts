import { expect, onTestFinished } from 'vitest'
import {
  type Broker,
  ConcurrentConsumer,
  type ConcurrentConsumerOptions,
  type ConsumeContext,
  type ConsumerEvent,
  type ConsumerSummary,
  type MessageExt,
  type MessageListener,
  OrderlyConsumer,
  type OrderlyConsumerOptions,
  Producer,
} from '../../src/core/index.ts'

/** Long, because the machine may be busy. */
export const PATIENCE = { timeout: 15_000, interval: 10 }

export const bodyOf = ({ body }: MessageExt) => Buffer.from(body).toString()

/** A consumer that runs beside the test; it is stopped when the test ends. */
export interface Running {
  readonly clientId: string
  /** Bodies in the order in which the handler got them. */
  readonly seen: string[]
  readonly deliveries: { readonly message: MessageExt; readonly context: ConsumeContext }[]
  readonly events: ConsumerEvent[]
  stop(): Promise<ConsumerSummary>
}

type Start<O> = Partial<O> & {
  readonly topic: string
  readonly group?: string
  readonly listener?: MessageListener
}

export function startOrderly(broker: Broker, options: Start<OrderlyConsumerOptions>): Running {
  const { topic, group = 'g', listener, ...rest } = options
  const events: ConsumerEvent[] = []
  const onEvent = (event: ConsumerEvent) => void events.push(event)
  return run(new OrderlyConsumer(broker, { group, topics: [topic], onEvent, ...rest }), events, listener)
}

export function startConcurrent(broker: Broker, options: Start<ConcurrentConsumerOptions>): Running {
  const { topic, group = 'g', listener, ...rest } = options
  const events: ConsumerEvent[] = []
  const onEvent = (event: ConsumerEvent) => void events.push(event)
  return run(new ConcurrentConsumer(broker, { group, topics: [topic], onEvent, ...rest }), events, listener)
}

function run(
  consumer: OrderlyConsumer | ConcurrentConsumer,
  events: ConsumerEvent[],
  listener: MessageListener | undefined,
): Running {
  const stop = new AbortController()
  const seen: string[] = []
  const deliveries: Running['deliveries'] = []
  const ended = consumer.start(
    (messages, context) => {
      for (const message of messages) {
        seen.push(bodyOf(message))
        deliveries.push({ message, context })
      }
      return listener?.(messages, context)
    },
    { signal: stop.signal },
  )
  ended.catch(() => {})
  const end = () => {
    stop.abort()
    return ended
  }
  onTestFinished(async () => {
    await end().catch(() => {})
  })
  return {
    get clientId() {
      return consumer.clientId
    },
    seen,
    deliveries,
    events,
    stop: end,
  }
}

/** Sends bodies one after the other, each with this key. */
export async function sendAll(
  broker: Broker,
  topic: string,
  bodies: readonly string[],
  keyOf: (body: string, i: number) => string | undefined = () => 'k',
): Promise<void> {
  const producer = new Producer(broker)
  await producer.sendBatch(
    bodies.map((body, i) => {
      const key = keyOf(body, i)
      return { topic, body, ...(key !== undefined && { key }) }
    }),
  )
}

/** Nothing of the group waits any more, neither in a queue nor for a retry. */
export async function untilIdle(broker: Broker, group = 'g'): Promise<void> {
  const open = async () =>
    (await broker.progress(group)).reduce((sum, { lag, scheduled }) => sum + lag + scheduled, 0)
  await expect.poll(open, PATIENCE).toBe(0)
}

/** Bodies of the group's dead letters, in their order. */
export async function deadBodies(broker: Broker, group = 'g'): Promise<string[]> {
  const { deadLetters } = await broker.deadLetters.list(group, {}, { limit: 100_000 })
  return deadLetters.map(({ message }) => bodyOf(message))
}

export const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(i))
