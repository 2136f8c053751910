import { type Broker, closestName, type GroupConfig, RmqError, type TopicConfig } from '../core/index.ts'

/** @throws RmqError GROUP_NOT_FOUND with the name that was probably meant */
export async function requireGroup(broker: Broker, group: string): Promise<GroupConfig> {
  const config = await broker.groupConfig(group)
  if (config) return config
  const names = (await broker.listGroups()).map((existing) => existing.group)
  const closest = closestName(group, names)
  throw new RmqError('GROUP_NOT_FOUND', `group ${group} does not exist`, {
    why: names.length === 1 ? 'there is 1 group' : `there are ${names.length} groups`,
    hint: closest ? `did you mean ${closest}? see: rmq groups list` : 'rmq groups list',
    details: { group, ...(closest ? { closest } : undefined) },
  })
}

/** @throws RmqError TOPIC_NOT_FOUND, in the broker's words */
export async function requireTopicConfig(broker: Broker, topic: string): Promise<TopicConfig> {
  await requireTopic(broker, topic)
  const config = await broker.topicConfig(topic)
  if (config) return config
  throw new RmqError('TOPIC_NOT_FOUND', `topic ${topic} was deleted a moment ago`)
}

/** @throws RmqError TOPIC_NOT_FOUND, in the broker's words */
export async function requireTopic(broker: Broker, topic: string): Promise<void> {
  await broker.subscribeQueues(topic)
}
