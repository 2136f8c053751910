import { setMaxListeners } from 'node:events'
import type { Broker, BrokerNotification } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import {
  CONSUME_BATCH_DEFAULT,
  DRAIN_TIMEOUT_MS,
  LOCK_RENEWALS_PER_TTL,
  LOCK_TTL_MS,
  SUSPEND_MS_DEFAULT,
  SUSPEND_MS_MAX,
} from '../model/limits.ts'
import { isUnclean, type LockGrant, type LockHolder } from '../model/lock.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import { sleep } from '../model/runtime.ts'
import { allocateAveragely } from './allocate.ts'
import { newClientId } from './client-id.ts'
import { consumeQueue } from './consume-queue.ts'
import type { ConsumeCounters, ConsumeServices } from './consume-services.ts'
import type { ConsumerEvent, ConsumerSummary } from './consumer-events.ts'
import { checkOptions, type OrderlyConsumerOptions, subscriptionsOf } from './consumer-options.ts'
import { EndConditions } from './end-conditions.ts'
import { Permits } from './gate.ts'
import type { Handler, MessageListener } from './listener.ts'
import { OffsetStore } from './offset-store.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { isTransient } from './pull-loop.ts'
import { Quota } from './quota.ts'
import { Rebalance } from './rebalance.ts'
import { committedOffset, storeStartOffsets } from './start-offsets.ts'

/** RocketMQ's consume threads. */
const CONSUME_THREADS = 20
/** How long a handler that was told to end is waited for. */
const CUT_SHORT_GRACE_MS = 5_000

/**
 * Consumes topics in order, one message of a queue at a time, under the queue's lock
 * (RocketMQ `DefaultMQPushConsumer` with a `MessageListenerOrderly`). It starts once.
 */
export class OrderlyConsumer {
  readonly clientId: string
  readonly #broker: Broker
  readonly #options: OrderlyConsumerOptions
  readonly #stop = new AbortController()
  readonly #cutShort = new AbortController()
  readonly #counters: ConsumeCounters = { consumed: 0, deadLettered: 0, failed: 0 }
  readonly #waitingFor = new Map<string, string>()
  #failure: { readonly error: unknown } | undefined
  #hasStarted = false

  constructor(broker: Broker, options: OrderlyConsumerOptions) {
    this.#broker = broker
    this.#options = options
    this.clientId = options.clientId ?? newClientId(broker.runtime)
    // Every running handler may listen to it: their number is no leak.
    setMaxListeners(0, this.#cutShort.signal)
  }

  /**
   * Consumes until the signal is aborted or an end condition holds; then running handlers end, offsets are stored,
   * locks released. Rejects with TOPIC_NOT_FOUND, GROUP_CONFLICT, CLIENT_ID_IN_USE at the start, HANDLER_NOT_FOUND
   * or a store error later: also then everything is released.
   */
  async start(
    listener: MessageListener | Handler,
    run: { readonly signal?: AbortSignal } = {},
  ): Promise<ConsumerSummary> {
    if (this.#hasStarted) throw new RmqError('INVALID_ARGUMENT', 'this consumer was started before')
    this.#hasStarted = true
    await checkOptions(this.#options)
    const handler = toHandler(listener)
    const stop = () => this.#stop.abort()
    run.signal?.addEventListener('abort', stop, { once: true })
    if (run.signal?.aborted) stop()
    try {
      await this.#consume(handler)
    } finally {
      run.signal?.removeEventListener('abort', stop)
      await handler.close()
    }
    if (this.#failure) throw this.#failure.error
    return { ...this.#counters, drained: !this.#cutShort.signal.aborted }
  }

  async #consume(handler: Handler): Promise<void> {
    const { group } = this.#options
    const ends = new EndConditions(this.#broker, this.#options, stopOf(this.#stop))
    for (const { topic } of subscriptionsOf(this.#options)) await this.#broker.subscribeQueues(topic)
    await this.#heartbeat()
    const services = await this.#services(handler, ends, (queue) => rebalance.lost(queue))
    const rebalance = this.#rebalance(services, ends)
    const stopBeating = this.#beat(() => rebalance.renew())
    const stopListening = this.#broker.onNotification((notification) =>
      this.#notified(notification, rebalance),
    )
    try {
      for (const { topic } of subscriptionsOf(this.#options)) {
        await storeStartOffsets(this.#broker, group, topic, this.#options.from ?? 'earliest')
      }
      await ends.start(rebalance, services)
      rebalance.trigger()
      await aborted(this.#stop.signal)
    } finally {
      await this.#shutDown(rebalance, services, ends, stopBeating, stopListening)
    }
  }

  /** RocketMQ's order: no new batch, running handlers end, offsets, locks, membership. */
  async #shutDown(
    rebalance: Rebalance,
    services: ConsumeServices,
    ends: EndConditions,
    stopBeating: () => Promise<void>,
    stopListening: () => void,
  ): Promise<void> {
    ends.stop()
    const { runtime } = this.#broker
    const drained = new AbortController()
    const drain = async () => {
      await sleep(runtime, this.#options.drainTimeoutMs ?? DRAIN_TIMEOUT_MS, drained.signal)
      if (drained.signal.aborted) return
      this.#cutShort.abort()
      // A handler that does not end even now keeps its lock: freeing it would let two run at once.
      await sleep(runtime, CUT_SHORT_GRACE_MS, drained.signal)
    }
    try {
      await Promise.race([rebalance.stop(), drain()])
      await services.offsets.flush()
    } finally {
      drained.abort()
      stopListening()
      await stopBeating()
      await this.#broker.unregister(this.#options.group, this.clientId)
    }
  }

  async #services(
    handler: Handler,
    ends: EndConditions,
    onLost: (queue: OwnedQueue) => void,
  ): Promise<ConsumeServices> {
    const options = this.#options
    const config = await this.#broker.groupConfig(options.group)
    const suspendMs = options.suspendMs ?? config?.suspendMs ?? SUSPEND_MS_DEFAULT
    const subscriptions = new Map(subscriptionsOf(options).map((one) => [one.topic, one]))
    const lockLost = (queue: OwnedQueue, refusedCommit: boolean) => {
      const isNews = !queue.isLost || (refusedCommit && !queue.isRefusalTold)
      queue.isRefusalTold ||= refusedCommit
      if (!queue.isLost) onLost(queue)
      if (isNews) this.#emit({ kind: 'lock-lost', mq: queue.mq, refusedCommit })
    }
    return {
      broker: this.#broker,
      group: options.group,
      clientId: this.clientId,
      handler,
      offsets: new OffsetStore({
        broker: this.#broker,
        runtime: this.#broker.runtime,
        group: options.group,
        clientId: this.clientId,
        onRefused: (mq, epoch) => {
          const queue = ends.ownedQueue(mq)
          if (queue?.epoch === epoch) lockLost(queue, true)
        },
        onError: (error) => this.#transient(error, 'offset commit'),
      }),
      permits: new Permits(options.threads ?? CONSUME_THREADS),
      quota: new Quota(options.count ?? Number.POSITIVE_INFINITY, () => ends.quotaAvailable()),
      policy: {
        maxReconsumeTimes: options.maxReconsumeTimes ?? config?.maxReconsumeTimes ?? -1,
        onExhausted: options.onExhausted ?? 'dlq',
        suspendMs,
        suspendMaxMs: Math.max(suspendMs, options.suspendMaxMs ?? SUSPEND_MS_MAX),
      },
      batch: options.batch ?? CONSUME_BATCH_DEFAULT,
      lockTtlMs: this.#lockTtlMs,
      subscriptionOf: (topic) =>
        subscriptions.get(topic) ?? { topic, expressionType: 'TAG', expression: '*' },
      counters: this.#counters,
      cutShort: this.#cutShort.signal,
      emit: (event) => this.#emit(event),
      endOf: (mq) => ends.endOf(mq),
      lockLost,
      progressed: () => ends.check(),
      fail: (error) => this.#fail(error),
    }
  }

  #rebalance(services: ConsumeServices, ends: EndConditions): Rebalance {
    const { group } = this.#options
    return new Rebalance({
      broker: this.#broker,
      group,
      clientId: this.clientId,
      topics: subscriptionsOf(this.#options).map(({ topic }) => topic),
      lockTtlMs: this.#lockTtlMs,
      allocate: allocateAveragely,
      acquire: (grant) => this.#acquire(grant, services),
      release: async (queue) => {
        await services.offsets.flush()
        services.offsets.forget(queue.position)
        if (!queue.isLost) this.#emit({ kind: 'queue-released', mq: queue.mq })
      },
      onLost: (queue) => services.lockLost(queue, false),
      onWaiting: (mq, holder) => this.#waiting(mq, holder),
      onError: (error) => this.#transient(error, 'rebalance'),
      onSettled: () => ends.check(),
    })
  }

  async #acquire(grant: LockGrant & { granted: true }, services: ConsumeServices): Promise<OwnedQueue> {
    const committed = await committedOffset(this.#broker, this.#options.group, grant.mq)
    this.#waitingFor.delete(queueKey(grant.mq))
    // Not by `carefulUntil`: that outlives clean hand-overs until it is passed.
    const unclean = isUnclean(grant.predecessor)
    this.#emit({ kind: 'queue-acquired', mq: grant.mq, epoch: grant.epoch, unclean })
    return consumeQueue(services, grant, committed)
  }

  #waiting(mq: MessageQueue, holder: LockHolder | null): void {
    const key = queueKey(mq)
    const who = holder ? `${holder.clientId} ${holder.state}` : ''
    if (this.#waitingFor.get(key) === who) return
    this.#waitingFor.set(key, who)
    this.#emit({ kind: 'waiting-for-lock', mq, holder })
  }

  #notified(notification: BrokerNotification, rebalance: Rebalance): void {
    if (notification.kind === 'notice') {
      this.#emit(notification)
      return
    }
    if (notification.group !== this.#options.group) return
    if (notification.kind === 'rebalance') {
      rebalance.trigger()
      return
    }
    for (const queue of rebalance.owned) {
      queue.redeliveryPending = true
      queue.arrived.raise()
    }
  }

  async #heartbeat(): Promise<void> {
    await this.#broker.heartbeat({
      group: this.#options.group,
      clientId: this.clientId,
      mode: 'orderly',
      subscriptions: subscriptionsOf(this.#options),
      lockTtlMs: this.#lockTtlMs,
    })
  }

  /**
   * Heartbeat and renewal, three times in the life of a lock. Returns what ends it; that resolves when the last one
   * is over, since a heartbeat behind the farewell would join again.
   */
  #beat(renew: () => Promise<void>): () => Promise<void> {
    const { runtime } = this.#broker
    const stop = new AbortController()
    const beating = (async () => {
      for (;;) {
        await sleep(runtime, this.#lockTtlMs / LOCK_RENEWALS_PER_TTL, stop.signal)
        if (stop.signal.aborted) return
        try {
          await this.#heartbeat()
          await renew()
        } catch (error) {
          this.#transient(error, 'heartbeat')
        }
      }
    })()
    return () => {
      stop.abort()
      return beating
    }
  }

  get #lockTtlMs(): number {
    return this.#options.lockTtlMs ?? LOCK_TTL_MS
  }

  /** A busy store is tried again by whoever met it; everything else ends the consumer. */
  #transient(error: unknown, what: string): void {
    if (isTransient(error)) this.#emit({ kind: 'notice', text: `${what}: ${error.message}` })
    else this.#fail(error)
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#stop.abort()
  }

  #emit(event: ConsumerEvent): void {
    this.#options.onEvent?.(event)
  }
}

function toHandler(listener: MessageListener | Handler): Handler {
  if (typeof listener !== 'function') return listener
  return { kind: 'function', consume: listener, close: async () => {} }
}

function stopOf(controller: AbortController): () => void {
  return () => controller.abort()
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
