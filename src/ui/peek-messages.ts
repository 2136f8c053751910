import {
  type Broker,
  checkSubscription,
  type MessageExt,
  type MessageQueue,
  type OffsetRange,
  type OffsetSpec,
  PULL_BATCH_MAX,
  type QueueStats,
  RmqError,
  resolveOffset,
  type Subscription,
} from '../core/index.ts'

/** Which messages of a topic are looked at. */
export interface PeekFilter {
  readonly topic: string
  readonly queueId?: number | undefined
  /** A tag expression. */
  readonly tags?: string | undefined
  /** An SQL92 expression, instead of tags. */
  readonly sql?: string | undefined
  /** An ordering or lookup key. */
  readonly key?: string | undefined
}

export interface PeekOptions extends PeekFilter {
  readonly range: OffsetRange
}

/** Offsets `from` to before `to` of one queue. */
export interface QueueStretch {
  readonly stats: QueueStats
  readonly from: number
  readonly to: number
}

/**
 * Messages queue by queue, in offset order, as they are when the look begins: what is stored meanwhile is not
 * waited for, so that it ends also beside a busy producer.
 */
export async function* peekMessages(broker: Broker, options: PeekOptions): AsyncGenerator<MessageExt> {
  const queues = selectedQueues(await broker.queueStats(options.topic), options)
  for (const stats of queues) {
    const from = await offsetIn(broker, stats, options.range.from)
    const to = options.range.to === null ? stats.maxOffset : await offsetIn(broker, stats, options.range.to)
    yield* readMessages(broker, { stats, from, to }, options)
  }
}

/** What of a stretch is there, and passes the filter. */
export async function* readMessages(
  broker: Broker,
  { stats, from, to }: QueueStretch,
  filter: PeekFilter,
): AsyncGenerator<MessageExt> {
  const end = Math.min(to, stats.maxOffset)
  let offset = Math.max(from, stats.minOffset)
  while (offset < end) {
    const page = await broker.pull({
      mq: stats.mq,
      offset,
      maxMessages: Math.min(PULL_BATCH_MAX, end - offset),
      ...subscriptionOf(filter),
      waitMs: 0,
    })
    for (const message of page.messages) {
      if (message.queueOffset >= end) return
      if (hasKey(message, filter.key)) yield message
    }
    // Retention may have taken the rest away meanwhile.
    if (page.nextOffset <= offset) return
    offset = page.nextOffset
  }
}

/** The offset that a place means in a queue. */
export function offsetIn(broker: Broker, stats: QueueStats, spec: OffsetSpec): Promise<number> {
  return resolveOffset(spec, {
    stats,
    searchOffset: (timestamp) => broker.searchOffset(stats.mq, timestamp),
  })
}

/** Refuses a malformed expression also where there is nothing to filter. INVALID_ARGUMENT. */
export function checkPeekFilter(filter: PeekFilter): void {
  const { subscription } = subscriptionOf(filter)
  if (subscription) checkSubscription(subscription)
}

/** All queues, or the one that is meant. QUEUE_NOT_FOUND. */
export function selectedQueues(
  stats: readonly QueueStats[],
  { topic, queueId }: PeekFilter,
): readonly QueueStats[] {
  if (queueId === undefined) return stats
  const found = stats.filter(({ mq }) => mq.queueId === queueId)
  if (found.length > 0) return found
  throw new RmqError('QUEUE_NOT_FOUND', `topic ${topic} has no queue ${queueId}`, {
    why: `its queues are ${idsOf(stats.map(({ mq }) => mq))}`,
    hint: `rmq topics describe ${topic}`,
  })
}

function idsOf(queues: readonly MessageQueue[]): string {
  return `${queues[0]?.queueId ?? 0} to ${queues.at(-1)?.queueId ?? 0}`
}

function subscriptionOf({ topic, tags, sql }: PeekFilter): { readonly subscription?: Subscription } {
  if (sql !== undefined) return { subscription: { topic, expressionType: 'SQL92', expression: sql } }
  return tags === undefined ? {} : { subscription: { topic, expressionType: 'TAG', expression: tags } }
}

function hasKey(message: MessageExt, key: string | undefined): boolean {
  return key === undefined || message.key === key || message.keys.includes(key)
}
