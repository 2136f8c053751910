import type { Broker } from '../broker.ts'
import type { GroupConfig } from '../model/group.ts'
import {
  CACHED_BYTES_PER_QUEUE_MAX,
  CACHED_MESSAGES_PER_QUEUE_MAX,
  CONCURRENT_SPAN_MAX,
  CONSUME_BATCH_DEFAULT,
  CONSUME_THREADS_DEFAULT,
  CONSUME_TIMEOUT_MS,
  LOCK_TTL_MS,
  SUSPEND_MS_DEFAULT,
  SUSPEND_MS_MAX,
} from '../model/limits.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { AnyConsumerOptions } from './consumer-options.ts'
import { Permits, Slots } from './gate.ts'
import type { Handler } from './listener.ts'
import { OffsetStore } from './offset-store.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { Quota } from './quota.ts'
import type { ConsumePolicy } from './settlement.ts'

/** What a consumer gives to its services: the rest follows from its options and the group's settings. */
export type ServiceParts = Pick<
  ConsumeServices,
  | 'clientId'
  | 'subscriptionOf'
  | 'stats'
  | 'counters'
  | 'cutShort'
  | 'emit'
  | 'endOf'
  | 'lockLost'
  | 'progressed'
  | 'fail'
> & {
  readonly mode: ConsumePolicy['mode']
  readonly handler: Handler
  readonly transient: (error: unknown, what: string) => void
  readonly ownedQueue: (mq: OwnedQueue['mq']) => OwnedQueue | undefined
  /** How many queues of a topic this member has. */
  readonly queuesOf: (topic: string) => number
  readonly onQuotaAvailable: () => void
}

/** Everything that the queues of one consumer share. */
export function consumerServices(
  broker: Broker,
  options: AnyConsumerOptions,
  config: GroupConfig | undefined,
  parts: ServiceParts,
): ConsumeServices {
  const { mode, handler, transient, ownedQueue, queuesOf, onQuotaAvailable, ...own } = parts
  const { group } = options
  const policy = policyOf(mode, options, config)
  const isLocal = policy.messageModel === 'broadcasting'
  const isLocked = hasLocks(broker, policy)
  const perKey = mode === 'orderly' ? (options.perKey ?? 1) : 1
  const ordering = mode === 'concurrent' ? 'none' : perKey > 1 ? 'key' : 'queue'
  const threads = options.threads ?? CONSUME_THREADS_DEFAULT
  const isTraced = options.trace ?? config?.trace ?? false
  return {
    ...own,
    broker,
    group,
    handler,
    offsets: new OffsetStore({
      broker,
      runtime: broker.runtime,
      group,
      clientId: own.clientId,
      scope: isLocal ? 'local' : 'group',
      onRefused: (mq, epoch) => {
        const queue = ownedQueue(mq)
        if (queue?.epoch === epoch) own.lockLost(queue, true)
      },
      onError: (error) => transient(error, 'offset commit'),
    }),
    attempts: isLocked ? broker.attempts : undefined,
    redelivery: isLocked ? broker.redelivery : undefined,
    parkedKeys: isLocked && mode === 'orderly' ? broker.parkedKeys : undefined,
    permits: new Permits(threads),
    // Keys are bounded for each queue, not as a whole: that is what was asked for.
    slots: new Slots(mode === 'concurrent' ? threads : Number.POSITIVE_INFINITY),
    runsPerQueue: mode === 'concurrent' ? threads : perKey,
    quota: new Quota(options.count ?? Number.POSITIVE_INFINITY, onQuotaAvailable),
    policy,
    batch: options.batch ?? CONSUME_BATCH_DEFAULT,
    lockTtlMs: options.lockTtlMs ?? LOCK_TTL_MS,
    consumeTimeoutMs:
      mode === 'concurrent' ? (options.consumeTimeoutMs ?? CONSUME_TIMEOUT_MS) : Number.POSITIVE_INFINITY,
    spanMax: mode === 'concurrent' ? CONCURRENT_SPAN_MAX : Number.POSITIVE_INFINITY,
    ordered: mode === 'orderly' && !isLocal,
    thresholdsOf: hasTopicThresholds(options)
      ? (topic) => thresholds(options, queuesOf(topic))
      : () => QUEUE_THRESHOLDS,
    hooks: options.hooks ?? [],
    journal:
      isTraced && broker.journal
        ? (queue, deliveries) =>
            void broker.journal
              ?.record(queue.fence, deliveries, ordering)
              .catch((error: unknown) => transient(error, 'journal'))
        : undefined,
  }
}

/** Whether the members of such a consumer's group lock their queues. */
export function hasLocks(
  { capabilities }: Broker,
  { mode, messageModel }: Pick<ConsumePolicy, 'mode' | 'messageModel'>,
): boolean {
  return messageModel === 'clustering' && (mode === 'orderly' || capabilities.concurrentLocks)
}

/** A queue's own bounds. */
const QUEUE_THRESHOLDS = { messages: CACHED_MESSAGES_PER_QUEUE_MAX, bytes: CACHED_BYTES_PER_QUEUE_MAX }

function hasTopicThresholds(options: AnyConsumerOptions): boolean {
  return options.pullThresholdForTopic !== undefined || options.pullThresholdBytesForTopic !== undefined
}

/** A queue's own bounds, and its share of the topic's (RocketMQ `pullThresholdForTopic`, at least 1). */
function thresholds(
  { pullThresholdForTopic: messages, pullThresholdBytesForTopic: bytes }: AnyConsumerOptions,
  queues: number,
): { messages: number; bytes: number } {
  const share = (whole: number | undefined) =>
    whole === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(whole / Math.max(1, queues)))
  return {
    messages: Math.min(QUEUE_THRESHOLDS.messages, share(messages)),
    bytes: Math.min(QUEUE_THRESHOLDS.bytes, share(bytes)),
  }
}

function policyOf(
  mode: ConsumePolicy['mode'],
  options: AnyConsumerOptions,
  config: GroupConfig | undefined,
): ConsumePolicy {
  const inPlace = options.suspendMs ?? config?.suspendMs ?? SUSPEND_MS_DEFAULT
  const suspendMs = mode === 'orderly' ? inPlace : (options.suspendMs ?? null)
  return {
    mode,
    messageModel: options.messageModel ?? 'clustering',
    autoCommit: options.autoCommit ?? true,
    maxReconsumeTimes: options.maxReconsumeTimes ?? config?.maxReconsumeTimes ?? -1,
    onExhausted: options.onExhausted ?? 'dlq',
    suspendMs,
    suspendMaxMs: Math.max(suspendMs ?? 0, options.suspendMaxMs ?? SUSPEND_MS_MAX),
  }
}
