import type { Subscription } from '../model/group.ts'
import { parseTagExpression } from '../model/tag-expression.ts'
import type { ConsumerEvent } from './consumer-events.ts'
import type { OnExhausted } from './settlement.ts'

/** Where a group starts that has never consumed the topic. */
export type ConsumeFrom = 'earliest' | 'latest' | { readonly timestamp: number }

export interface OrderlyConsumerOptions {
  readonly group: string
  readonly topics: readonly string[]
  /** Tag expression, `A || B`; default everything. */
  readonly tags?: string
  /** Default: unique by construction. The same one twice is refused while the first lives. */
  readonly clientId?: string
  /** Life of a lock in milliseconds, default 60,000. It is renewed each third of it and trusted for half. */
  readonly lockTtlMs?: number
  /** Messages of one handler call, default 1. */
  readonly batch?: number
  /** Queues that run a handler at once, default 20 (RocketMQ's consume threads). */
  readonly threads?: number
  /** Further tries after the first; -1 is unlimited. Default: the group's setting. */
  readonly maxReconsumeTimes?: number
  readonly onExhausted?: OnExhausted
  /** Pause after the first failure of a head, in milliseconds; it doubles. Default: the group's setting. */
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
  readonly onEvent?: (event: ConsumerEvent) => void
}

/** Refuses options that could only hang or surprise. INVALID_ARGUMENT. */
export async function checkOptions(options: OrderlyConsumerOptions): Promise<void> {
  const { orderlyConsumerOptionsSchema, parseWith } = await import('../model/schemas.ts')
  parseWith(orderlyConsumerOptionsSchema, options, 'the options of the consumer')
  parseTagExpression(options.tags ?? '*')
}

export function subscriptionsOf(options: OrderlyConsumerOptions): readonly Subscription[] {
  return [...new Set(options.topics)].map((topic) => ({
    topic,
    expressionType: 'TAG',
    expression: options.tags ?? '*',
  }))
}
