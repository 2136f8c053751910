import type { Broker, QueueOffset } from '../broker.ts'
import type { Done } from '../model/done-ranges.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import { retryTopicOf } from '../model/names.ts'
import type { QueueStats } from '../model/topic.ts'
import type { ConsumeFrom } from './consumer-options.ts'

/** Whose offsets: a group's, or with `clientId` those of one member of a broadcasting group. */
export interface OffsetOwner {
  readonly group: string
  readonly clientId?: string
}

/**
 * Fixes where a group starts on a topic, for all its queues at once. Only a group that has no offset on the topic
 * follows `from`; a queue that is new to a group it knows starts at its oldest message, or messages would be skipped.
 * A retry topic starts at its oldest message, too: what is in it was this group's before.
 */
export async function storeStartOffsets(
  broker: Broker,
  owner: OffsetOwner,
  topic: string,
  from: ConsumeFrom,
): Promise<void> {
  const known = await offsetsOf(broker, owner, topic)
  const stats = await broker.queueStats(topic)
  const isNew = ({ mq }: QueueStats) => !known.some((other) => isSameQueue(other.mq, mq))
  const missing = stats.filter(isNew)
  if (missing.length === 0) return
  const followsFrom = known.length === 0 && topic !== retryTopicOf(owner.group)
  const offsets = await Promise.all(
    missing.map(async (queue): Promise<QueueOffset> => {
      const offset = followsFrom ? await startOffset(broker, queue, from) : queue.minOffset
      return { mq: queue.mq, offset }
    }),
  )
  if (owner.clientId === undefined) await broker.storeStartOffsets(owner.group, offsets)
  else await broker.commitLocalOffsets(owner.group, owner.clientId, offsets)
}

/** RocketMQ's CONSUME_FROM_FIRST_OFFSET, CONSUME_FROM_LAST_OFFSET and CONSUME_FROM_TIMESTAMP. */
async function startOffset(broker: Broker, queue: QueueStats, from: ConsumeFrom): Promise<number> {
  if (from === 'earliest') return queue.minOffset
  if (from === 'latest') return queue.maxOffset
  return broker.searchOffset(queue.mq, from.timestamp)
}

/** How far a group is in one queue; a queue that appeared after the start begins at its oldest message. */
export async function committedDone(broker: Broker, owner: OffsetOwner, mq: MessageQueue): Promise<Done> {
  const find = async () =>
    (await offsetsOf(broker, owner, mq.topic)).find((other) => isSameQueue(other.mq, mq))
  let found = await find()
  if (found === undefined) {
    await storeStartOffsets(broker, owner, mq.topic, 'earliest')
    found = await find()
  }
  return { offset: found?.offset ?? 0, ahead: found?.ahead ?? [] }
}

function offsetsOf(broker: Broker, owner: OffsetOwner, topic: string): Promise<readonly QueueOffset[]> {
  const { group, clientId } = owner
  return clientId === undefined
    ? broker.committedOffsets(group, topic)
    : broker.localOffsets(group, clientId, topic)
}

function isSameQueue(a: MessageQueue, b: MessageQueue): boolean {
  return a.queueId === b.queueId && a.brokerName === b.brokerName
}
