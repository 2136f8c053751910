import type { Broker } from '../broker.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import type { QueueStats } from '../model/topic.ts'
import { queueNotFound } from './pull-errors.ts'

/** Refuses queues that cannot be read. TOPIC_NOT_FOUND, QUEUE_NOT_FOUND. */
export async function checkReadable(broker: Broker, mqs: readonly MessageQueue[]): Promise<void> {
  for (const topic of new Set(mqs.map((mq) => mq.topic))) {
    const known = await broker.subscribeQueues(topic)
    const keys = new Set(known.map(queueKey))
    const stranger = mqs.find((mq) => mq.topic === topic && !keys.has(queueKey(mq)))
    if (stranger) throw queueNotFound(stranger, known)
  }
}

/** The bounds of one queue. TOPIC_NOT_FOUND, QUEUE_NOT_FOUND. */
export async function statsOf(broker: Broker, mq: MessageQueue): Promise<QueueStats> {
  const stats = await broker.queueStats(mq.topic)
  const own = stats.find((one) => queueKey(one.mq) === queueKey(mq))
  if (own) return own
  throw queueNotFound(
    mq,
    stats.map((one) => one.mq),
  )
}
