import type { Broker, QueueOffset } from '../broker.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { QueueStats } from '../model/topic.ts'
import type { ConsumeFrom } from './consumer-options.ts'

/**
 * Fixes where a group starts on a topic, for all its queues at once. Only a group that has no offset on the topic
 * follows `from`; a queue that is new to a group it knows starts at its oldest message, or messages would be skipped.
 */
export async function storeStartOffsets(
  broker: Broker,
  group: string,
  topic: string,
  from: ConsumeFrom,
): Promise<void> {
  const known = await broker.committedOffsets(group, topic)
  const stats = await broker.queueStats(topic)
  if (known.length === stats.length) return
  const isFirstStart = known.length === 0
  const offsets = await Promise.all(
    stats.map(async (queue): Promise<QueueOffset> => {
      const offset = isFirstStart ? await startOffset(broker, queue, from) : queue.minOffset
      return { mq: queue.mq, offset }
    }),
  )
  await broker.storeStartOffsets(group, offsets)
}

/** RocketMQ's CONSUME_FROM_FIRST_OFFSET, CONSUME_FROM_LAST_OFFSET and CONSUME_FROM_TIMESTAMP. */
async function startOffset(broker: Broker, queue: QueueStats, from: ConsumeFrom): Promise<number> {
  if (from === 'earliest') return queue.minOffset
  if (from === 'latest') return queue.maxOffset
  return broker.searchOffset(queue.mq, from.timestamp)
}

/** The committed offset of one queue; a queue that appeared after the start begins at its oldest message. */
export async function committedOffset(broker: Broker, group: string, mq: MessageQueue): Promise<number> {
  const isThis = (other: { readonly mq: MessageQueue }) =>
    other.mq.queueId === mq.queueId && other.mq.brokerName === mq.brokerName
  const find = async () => (await broker.committedOffsets(group, mq.topic)).find(isThis)?.offset
  const found = await find()
  if (found !== undefined) return found
  await storeStartOffsets(broker, group, mq.topic, 'earliest')
  return (await find()) ?? 0
}
