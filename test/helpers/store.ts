import { type Broker, type Message, openBroker, Producer } from '../../src/core/index.ts'

/** Opens the database for the length of `use`, as a library user would. */
export async function withBroker<T>(db: string, use: (broker: Broker) => Promise<T>): Promise<T> {
  const broker = await openBroker({ db })
  try {
    return await use(broker)
  } finally {
    await broker.close()
  }
}

/** Stores messages in a topic that is created with so many queues. */
export function seed(
  db: string,
  topic: string,
  queues: number,
  messages: readonly (Omit<Message, 'topic'> & { readonly queueId?: number })[],
): Promise<void> {
  return withBroker(db, async (broker) => {
    await broker.createTopic({ topic, queues })
    const producer = new Producer(broker)
    for (const { queueId, ...message } of messages) {
      await producer.send({ ...message, topic }, queueId === undefined ? {} : { queueId })
    }
  })
}
