import { onTestFinished } from 'vitest'
import {
  type Broker,
  type Message,
  type MessageExt,
  type MessageQueue,
  openBroker,
  Producer,
  PullConsumer,
  type PullConsumerOptions,
} from '../../../src/core/index.ts'
import { tempDb } from '../../helpers/temp.ts'

/** Bodies as one line. */
export const bodies = (messages: readonly MessageExt[]) =>
  messages.map(({ body }) => Buffer.from(body).toString()).join(' ')

/** Topic `T` with these bodies in its queues, one array a queue; odd ones have tag A, the others B. */
export async function opened(queues: readonly (readonly number[])[], db = tempDb()): Promise<Broker> {
  const broker = await openBroker({ db })
  onTestFinished(() => broker.close())
  await broker.createTopic({ topic: 'T', queues: queues.length })
  for (const [queueId, numbers] of queues.entries()) await send(broker, queueId, numbers)
  return broker
}

export function send(
  broker: Broker,
  queueId: number,
  numbers: readonly number[],
  more: Partial<Message> = {},
) {
  const message = (i: number) => ({ topic: 'T', body: `${i}`, tags: i % 2 ? 'A' : 'B', ...more })
  return new Producer(broker).sendBatch(numbers.map(message), { queueId })
}

/** A pull consumer of group `g`, closed when the test ends. */
export function consumerOf(broker: Broker, options: Partial<PullConsumerOptions> = {}): PullConsumer {
  const consumer = new PullConsumer(broker, { group: 'g', ...options })
  onTestFinished(() => consumer.close())
  return consumer
}

export const mq = (queueId: number): MessageQueue => ({ topic: 'T', brokerName: 'embedded', queueId })

/** Queue and committed offset, as far as group `g` started. */
export const committed = async (broker: Broker) =>
  (await broker.committedOffsets('g', 'T')).map(({ mq: { queueId }, offset }) => [queueId, offset])
