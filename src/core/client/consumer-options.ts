import { RmqError } from '../model/errors.ts'
import type { Subscription } from '../model/group.ts'
import { CONSUME_BATCH_MAX } from '../model/limits.ts'
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
export function checkOptions(options: OrderlyConsumerOptions): void {
  if (options.topics.length === 0) {
    throw new RmqError('INVALID_ARGUMENT', 'a consumer needs at least one topic')
  }
  within('lockTtlMs', options.lockTtlMs, 100, 24 * 3600_000)
  within('batch', options.batch, 1, CONSUME_BATCH_MAX)
  within('threads', options.threads, 1, 1000)
  within('maxReconsumeTimes', options.maxReconsumeTimes, -1, 2 ** 31 - 1)
  within('suspendMs', options.suspendMs, 0, 24 * 3600_000)
  within('suspendMaxMs', options.suspendMaxMs, 0, 24 * 3600_000)
  within('drainTimeoutMs', options.drainTimeoutMs, 0, 24 * 3600_000)
  within('count', options.count, 1, Number.MAX_SAFE_INTEGER)
  within('idleTimeoutMs', options.idleTimeoutMs, 1, 24 * 3600_000)
}

function within(name: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return
  throw new RmqError('INVALID_ARGUMENT', `${name} is ${value}`, {
    why: `it is a whole number from ${least} to ${most}`,
  })
}

export function subscriptionsOf(options: OrderlyConsumerOptions): readonly Subscription[] {
  return [...new Set(options.topics)].map((topic) => ({
    topic,
    expressionType: 'TAG',
    expression: options.tags ?? '*',
  }))
}
