import {
  type Broker,
  type MessageExt,
  type MessageQueue,
  type OffsetRange,
  PULL_BATCH_MAX,
  parseTagExpression,
  type QueueStats,
  RmqError,
  resolveOffset,
  type Subscription,
} from '../core/index.ts'

export interface PeekOptions {
  readonly topic: string
  readonly queueId: number | undefined
  readonly range: OffsetRange
  /** At most so many in all. */
  readonly count: number
  /** A tag expression. */
  readonly tags: string | undefined
  /** An ordering or lookup key. */
  readonly key: string | undefined
}

/**
 * Messages queue by queue, in offset order, as they are when the look begins: what is stored meanwhile is not
 * waited for, so that it ends also beside a busy producer.
 */
export async function* peekMessages(broker: Broker, options: PeekOptions): AsyncGenerator<MessageExt> {
  // Also where there is nothing to filter: a malformed expression is never taken.
  if (options.tags !== undefined) parseTagExpression(options.tags)
  const stats = queuesOf(await broker.queueStats(options.topic), options)
  let left = options.count
  for (const queue of stats) {
    for await (const message of peekQueue(broker, queue, options)) {
      yield message
      if (--left === 0) return
    }
  }
}

async function* peekQueue(
  broker: Broker,
  stats: QueueStats,
  options: PeekOptions,
): AsyncGenerator<MessageExt> {
  const context = { stats, searchOffset: (timestamp: number) => broker.searchOffset(stats.mq, timestamp) }
  const from = await resolveOffset(options.range.from, context)
  const to = options.range.to === null ? stats.maxOffset : await resolveOffset(options.range.to, context)
  const end = Math.min(to, stats.maxOffset)
  let offset = Math.max(from, stats.minOffset)
  while (offset < end) {
    const page = await broker.pull({
      mq: stats.mq,
      offset,
      maxMessages: Math.min(PULL_BATCH_MAX, end - offset),
      ...subscriptionOf(options),
      waitMs: 0,
    })
    for (const message of page.messages) {
      if (message.queueOffset >= end) return
      if (hasKey(message, options.key)) yield message
    }
    // Retention may have taken the rest away meanwhile.
    if (page.nextOffset <= offset) return
    offset = page.nextOffset
  }
}

function queuesOf(stats: readonly QueueStats[], { topic, queueId }: PeekOptions): readonly QueueStats[] {
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

function subscriptionOf({ topic, tags }: PeekOptions): { readonly subscription?: Subscription } {
  return tags === undefined ? {} : { subscription: { topic, expressionType: 'TAG', expression: tags } }
}

function hasKey(message: MessageExt, key: string | undefined): boolean {
  return key === undefined || message.key === key || message.keys.includes(key)
}
