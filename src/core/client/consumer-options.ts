import type { MessageModel, Subscription } from '../model/group.ts'
import { assertGroupName, retryTopicOf } from '../model/names.ts'
import type { AllocateMessageQueueStrategy, AllocateStrategyName } from './allocate.ts'
import type { ConsumeHook } from './consume-hook.ts'
import type { ConsumerEvent } from './consumer-events.ts'
import type { OnExhausted } from './settlement.ts'

/** Where a group starts that has never consumed the topic. */
export type ConsumeFrom = 'earliest' | 'latest' | { readonly timestamp: number }

/** What every consumer takes (RocketMQ `DefaultMQPushConsumer`). */
export interface ConsumerOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** Tag expression, `A || B`; default everything. */
  readonly tags?: string
  /** SQL92 expression on properties, instead of tags. */
  readonly sql?: string
  /** `broadcasting`: every member gets every message, and keeps offsets of its own. Default: clustering. */
  readonly messageModel?: MessageModel
  /** Default: unique by construction; of a broadcasting member one that a restart finds again. */
  readonly clientId?: string
  /** Life of a lock in milliseconds, default 60,000. It is renewed each third of it and trusted for half. */
  readonly lockTtlMs?: number
  /** How the queues are divided among the members; all of them need the same. Default: averagely. */
  readonly allocate?: AllocateStrategyName | AllocateMessageQueueStrategy
  /** Messages of one handler call, default 1. */
  readonly batch?: number
  /** Handlers that run at once, default 20 (RocketMQ's consume threads); one a queue where order is kept. */
  readonly threads?: number
  /** Further tries after the first; -1 is RocketMQ's: unlimited when orderly, 16 when not. Default: the group's setting. */
  readonly maxReconsumeTimes?: number
  /**
   * Pause after the first failure, in milliseconds; it doubles. Default: the group's setting when orderly; when
   * concurrent RocketMQ's delay levels, from 10 s to 2 h.
   */
  readonly suspendMs?: number
  /** Longest pause, default 30,000 ms. */
  readonly suspendMaxMs?: number
  readonly from?: ConsumeFrom
  /** How long a stop waits for running handlers, default 10,000 ms. */
  readonly drainTimeoutMs?: number
  /** End after this many messages have left their queue. */
  readonly count?: number
  /** End when the queues of this member are consumed up to where they ended at the start. */
  readonly exitAtEnd?: boolean
  /** End when nothing was there to do for this long. */
  readonly idleTimeoutMs?: number
  /** Cached messages and bytes of one topic, divided among its queues; default no bound beside each queue's own. */
  readonly pullThresholdForTopic?: number
  readonly pullThresholdBytesForTopic?: number
  /** Record deliveries in the journal. Default: the group's setting. */
  readonly trace?: boolean
  /** Called around every run of the handler. */
  readonly hooks?: readonly ConsumeHook[]
  readonly onEvent?: (event: ConsumerEvent) => void
}

export interface OrderlyConsumerOptions extends ConsumerOptions {
  readonly onExhausted?: OnExhausted
  /** Up to so many keys of a queue at once, each in order. Default 1: the queue as a whole is in order. */
  readonly perKey?: number
  /** False: what succeeded is committed when the handler answers `commit`. Default true. */
  readonly autoCommit?: boolean
}

export interface ConcurrentConsumerOptions extends ConsumerOptions {
  /** A run that takes longer is sent back; default 15 minutes. */
  readonly consumeTimeoutMs?: number
}

export type AnyConsumerOptions = OrderlyConsumerOptions & ConcurrentConsumerOptions

/** Refuses options that could only hang or surprise. INVALID_ARGUMENT. */
export async function checkOptions(options: AnyConsumerOptions): Promise<void> {
  const { consumerOptionsSchema, parseWith } = await import('../model/schemas.ts')
  parseWith(consumerOptionsSchema, options, 'the options of the consumer')
  assertGroupName(options.group)
  const { checkSubscription } = await import('../model/subscription.ts')
  for (const subscription of userSubscriptions(options)) checkSubscription(subscription)
}

/** What the user asked for. */
export function userSubscriptions(options: ConsumerOptions): readonly Subscription[] {
  const filter: Omit<Subscription, 'topic'> =
    options.sql === undefined
      ? { expressionType: 'TAG', expression: options.tags ?? '*' }
      : { expressionType: 'SQL92', expression: options.sql }
  return [...new Set(options.topics)].map((topic) => ({ topic, ...filter }))
}

/** With the retry topic of the group, all of it: what comes there was wanted before. */
export function withRetryTopic(group: string, subscriptions: readonly Subscription[]): Subscription[] {
  return [...subscriptions, { topic: retryTopicOf(group), expressionType: 'TAG', expression: '*' }]
}
