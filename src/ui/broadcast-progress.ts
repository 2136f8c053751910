import { type Broker, type GroupMember, type GroupProgress, queueKey } from '../core/index.ts'

/**
 * How far each living member of a broadcasting group is: every one goes through all queues, at its own pace.
 * `queues` are those of the group's topics, by the broker's account.
 */
export async function broadcastProgress(
  broker: Broker,
  members: readonly GroupMember[],
  queues: readonly GroupProgress[],
): Promise<readonly GroupProgress[]> {
  const living = members.filter(({ state }) => state === 'alive')
  return (await Promise.all(living.map((member) => memberProgress(broker, member, queues)))).flat()
}

async function memberProgress(
  broker: Broker,
  { group, clientId, subscriptions }: GroupMember,
  queues: readonly GroupProgress[],
): Promise<readonly GroupProgress[]> {
  const topics = new Set(subscriptions.map(({ topic }) => topic))
  const stored = await Promise.all([...topics].map((topic) => broker.localOffsets(group, clientId, topic)))
  const offsets = new Map(stored.flat().map(({ mq, offset }) => [queueKey(mq), offset]))
  return queues
    .filter(({ mq }) => topics.has(mq.topic))
    .map((queue) => {
      const committedOffset = offsets.get(queueKey(queue.mq)) ?? null
      const next = Math.max(committedOffset ?? 0, queue.minOffset)
      const lag = Math.max(0, queue.maxOffset - next)
      return { ...queue, committedOffset, lag, owner: clientId, blocked: null }
    })
}
