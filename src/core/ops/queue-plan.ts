import type { Broker } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { queueOf } from '../model/hash.ts'
import { PULL_BATCH_MAX } from '../model/limits.ts'
import type { QueueStats, TopicConfig } from '../model/topic.ts'
import { checkTopicSettings } from '../model/topic-settings.ts'

/** Of each queue the newest messages are looked at: so many pulls of at most 256 messages and 1 MiB. */
const PULLS_PER_QUEUE = 4

/** A key of the sample whose messages go to another queue after the change. */
export interface KeyMove {
  readonly key: string
  readonly from: number
  readonly to: number
}

/** What a group has to consume before it gets what lies behind the barrier. */
export interface GroupDrain {
  readonly group: string
  readonly queues: readonly {
    readonly queueId: number
    /** `null`: the group never started on this queue. */
    readonly committedOffset: number | null
    /** Where the barrier would be: the queue's end now. */
    readonly offset: number
    readonly lag: number
  }[]
}

export interface QueuePlan {
  readonly topic: string
  readonly fromQueues: number
  readonly toQueues: number
  /** How many messages were looked at: the newest of each queue. */
  readonly sampled: number
  /** Distinct keys among them. */
  readonly keys: number
  /** Those of them that move, by key. */
  readonly moves: readonly KeyMove[]
  /** Queues that take no messages any more. */
  readonly dropped: readonly number[]
  /** Groups that have something to consume first, by name. */
  readonly drains: readonly GroupDrain[]
}

/**
 * What a change of the number of queues would do; changes nothing. Which keys move is told of a sample, the newest
 * messages of each queue; what must drain first is complete. TOPIC_NOT_FOUND, INVALID_ARGUMENT.
 */
export async function planQueues(broker: Broker, topic: string, queues: number): Promise<QueuePlan> {
  checkTopicSettings({ queues }, 'rmq topics alter')
  const stats = await broker.queueStats(topic)
  const config = await broker.topicConfig(topic)
  if (!config) throw new RmqError('TOPIC_NOT_FOUND', `topic ${topic} was deleted a moment ago`)
  const { keys, sampled } = await sampleKeys(broker, stats)
  const drains = config.queues === queues ? [] : await drainsOf(broker, topic)
  return {
    topic,
    fromQueues: config.queues,
    toQueues: queues,
    sampled,
    keys: keys.length,
    moves: movesOf(config, keys, queues),
    dropped: stats
      .map(({ mq }) => mq.queueId)
      .filter((queueId) => queueId >= queues && queueId < config.queues),
    drains,
  }
}

function movesOf({ hash, queues: before }: TopicConfig, keys: readonly string[], after: number): KeyMove[] {
  return keys
    .map((key) => ({
      key,
      from: queueOf(hash, key, before).queueId,
      to: queueOf(hash, key, after).queueId,
    }))
    .filter(({ from, to }) => from !== to)
}

async function sampleKeys(
  broker: Broker,
  stats: readonly QueueStats[],
): Promise<{ keys: readonly string[]; sampled: number }> {
  const keys = new Set<string>()
  let sampled = 0
  for (const { mq, minOffset, maxOffset } of stats) {
    let offset = Math.max(minOffset, maxOffset - PULLS_PER_QUEUE * PULL_BATCH_MAX)
    for (let pulls = 0; pulls < PULLS_PER_QUEUE && offset < maxOffset; pulls++) {
      const request = { mq, offset, maxMessages: PULL_BATCH_MAX, waitMs: 0 }
      const { messages, nextOffset } = await broker.pull(request)
      for (const { key } of messages) {
        sampled++
        if (key !== null) keys.add(key)
      }
      offset = nextOffset
    }
  }
  return { keys: [...keys].sort(), sampled }
}

async function drainsOf(broker: Broker, topic: string): Promise<GroupDrain[]> {
  const drains: GroupDrain[] = []
  for (const { group } of await broker.listGroups()) {
    if (!(await broker.groupTopics(group)).includes(topic) || !(await keepsOrder(broker, group))) continue
    const queues = (await broker.progress(group, topic)).flatMap((queue) => {
      const { mq, minOffset, committedOffset, maxOffset: offset } = queue
      const lag = offset - Math.max(committedOffset ?? 0, minOffset)
      return lag > 0 ? [{ queueId: mq.queueId, committedOffset, offset, lag }] : []
    })
    if (queues.length > 0) drains.push({ group, queues })
  }
  return drains
}

/** A group is known by its members: one without any may keep order when it comes back. */
async function keepsOrder(broker: Broker, group: string): Promise<boolean> {
  const members = await broker.members(group)
  return members.every(({ mode, messageModel }) => mode === 'orderly' && messageModel === 'clustering')
}
