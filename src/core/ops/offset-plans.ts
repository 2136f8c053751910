import type { Broker, OffsetReset, QueueOffset } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { assertGroupName, isSystemTopic } from '../model/names.ts'
import { countReset } from '../model/offset-reset.ts'
import { type OffsetSpec, resolveOffset } from '../model/offset-spec.ts'
import type { QueueStats } from '../model/topic.ts'

export interface ResetTarget {
  readonly group: string
  readonly to: OffsetSpec
  /** Default: the topics of the group, without its retry topic, where each message is only for a while. */
  readonly topic?: string
  /** Only this queue; needs a topic where the group has several. */
  readonly queueId?: number
}

export interface CloneTarget {
  readonly fromGroup: string
  /** It need not exist yet. */
  readonly toGroup: string
  /** Default: the topics of `fromGroup`, without its retry topic. */
  readonly topic?: string
}

/**
 * What a reset would do, queue by queue; nothing is changed. Feed it to `broker.admin.resetOffsets` to do it.
 * GROUP_NOT_FOUND, TOPIC_NOT_FOUND, QUEUE_NOT_FOUND; INVALID_ARGUMENT for a number outside of a queue.
 */
export async function planReset(broker: Broker, target: ResetTarget): Promise<readonly OffsetReset[]> {
  const { group, to, queueId } = target
  const topics = await topicsOf(broker, group, target.topic)
  if (queueId !== undefined && topics.length > 1) throw severalTopics(group, queueId, topics)
  const plans: OffsetReset[] = []
  for (const topic of topics) {
    const known = await broker.committedOffsets(group, topic)
    for (const stats of queuesOf(await broker.queueStats(topic), topic, queueId)) {
      const done = offsetOf(known, stats)
      const offset = await resolveOffset(to, {
        stats,
        committed: done?.offset ?? null,
        searchOffset: (timestamp) => broker.searchOffset(stats.mq, timestamp),
      })
      // A number that no message can have is a mistake; other places are brought within the queue.
      const isWithin = offset >= stats.minOffset && offset <= stats.maxOffset
      if (to.kind === 'offset' && !isWithin) throw outside(offset, stats)
      plans.push(planOf(stats, done, offset))
    }
  }
  return plans
}

/**
 * What it would do to give a group the committed offsets of another one (RocketMQ `cloneGroupOffset`). Only those:
 * what lies beyond them and is done with in the one group may be under way there, so the other gets it.
 * GROUP_NOT_FOUND for a missing `fromGroup`, TOPIC_NOT_FOUND, INVALID_NAME, INVALID_ARGUMENT.
 */
export async function planClone(broker: Broker, target: CloneTarget): Promise<readonly OffsetReset[]> {
  const { fromGroup, toGroup } = target
  assertGroupName(toGroup)
  if (fromGroup === toGroup) {
    throw new RmqError('INVALID_ARGUMENT', `group ${toGroup} cannot take over its own offsets`, {
      hint: 'name two groups: rmq offsets clone FROM TO',
    })
  }
  const plans: OffsetReset[] = []
  for (const topic of await topicsOf(broker, fromGroup, target.topic)) {
    const source = await broker.committedOffsets(fromGroup, topic)
    const known = await broker.committedOffsets(toGroup, topic)
    for (const stats of await broker.queueStats(topic)) {
      const offset = offsetOf(source, stats)?.offset
      if (offset !== undefined) plans.push(planOf(stats, offsetOf(known, stats), offset))
    }
  }
  return plans
}

async function topicsOf(
  broker: Broker,
  group: string,
  topic: string | undefined,
): Promise<readonly string[]> {
  const known = await broker.groupTopics(group)
  if (topic !== undefined) return [topic]
  // A member may subscribe to a topic that was deleted since.
  const exists = await Promise.all(known.map((name) => broker.topicConfig(name)))
  return known.filter((name, i) => exists[i] !== undefined && !isSystemTopic(name))
}

function queuesOf(
  stats: readonly QueueStats[],
  topic: string,
  queueId: number | undefined,
): readonly QueueStats[] {
  if (queueId === undefined) return stats
  const found = stats.filter(({ mq }) => mq.queueId === queueId)
  if (found.length > 0) return found
  throw new RmqError('QUEUE_NOT_FOUND', `topic ${topic} has no queue ${queueId}`, {
    why: `its queues are ${stats[0]?.mq.queueId ?? 0} to ${stats.at(-1)?.mq.queueId ?? 0}`,
    hint: `rmq topics describe ${topic}`,
    details: { topic, queueId },
  })
}

function offsetOf(offsets: readonly QueueOffset[], { mq }: QueueStats): QueueOffset | undefined {
  return offsets.find((other) => other.mq.queueId === mq.queueId && other.mq.brokerName === mq.brokerName)
}

/** As the broker does it: the target within the bounds of the queue. */
function planOf(stats: QueueStats, known: QueueOffset | undefined, wanted: number): OffsetReset {
  const to = Math.min(Math.max(wanted, stats.minOffset), stats.maxOffset)
  const done = known === undefined ? null : { offset: known.offset, ahead: known.ahead ?? [] }
  return { mq: stats.mq, from: done?.offset ?? null, to, ...countReset(done, stats, to) }
}

function outside(offset: number, { mq, minOffset, maxOffset }: QueueStats): RmqError {
  return new RmqError(
    'INVALID_ARGUMENT',
    `offset ${offset} is outside of queue ${mq.queueId} of ${mq.topic}`,
    {
      why: `its offsets are ${minOffset} to ${maxOffset}`,
      hint: 'choose one of these, or earliest or latest; -p ID moves one queue alone',
      details: { topic: mq.topic, queueId: mq.queueId, offset, minOffset, maxOffset },
    },
  )
}

function severalTopics(group: string, queueId: number, topics: readonly string[]): RmqError {
  return new RmqError('INVALID_ARGUMENT', `queue ${queueId} of which topic?`, {
    why: `group ${group} has ${topics.length} topics: ${topics.join(', ')}`,
    hint: 'add --topic',
    details: { group, topics },
  })
}
