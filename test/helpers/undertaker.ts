import { type Broker, OrderlyConsumer } from '../../src/core/index.ts'

/** Takes group `g` to the end of the topic with a handler that rejects every message whose body matches. */
export async function buryAll(broker: Broker, topic: string, which = /^/): Promise<readonly string[]> {
  const seen: string[] = []
  const consumer = new OrderlyConsumer(broker, { group: 'g', topics: [topic], exitAtEnd: true })
  await consumer.start((messages) => {
    const bodies = messages.map(({ body }) => Buffer.from(body).toString())
    seen.push(...bodies)
    return bodies.some((body) => which.test(body)) ? { status: 'dead-letter', error: 'no' } : 'success'
  })
  return seen
}
