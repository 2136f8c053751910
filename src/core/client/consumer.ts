import { setMaxListeners } from 'node:events'
import type { Broker, BrokerNotification } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import type { ConsumeMode, ConsumerStatus, MessageModel, Subscription } from '../model/group.ts'
import { DRAIN_TIMEOUT_MS, LOCK_RENEWALS_PER_TTL, LOCK_TTL_MS } from '../model/limits.ts'
import { isUnclean, type LockGrant, type LockHolder } from '../model/lock.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import { sleep } from '../model/runtime.ts'
import { ALLOCATE_STRATEGIES, type AllocateMessageQueueStrategy } from './allocate.ts'
import { joinBroadcasting } from './broadcast-client-id.ts'
import { newClientId } from './client-id.ts'
import { consumeQueue } from './consume-queue.ts'
import type { ConsumeCounters, ConsumeServices } from './consume-services.ts'
import type { ConsumerEvent, ConsumerSummary } from './consumer-events.ts'
import { type Beat, startBeat } from './consumer-heart.ts'
import {
  type AnyConsumerOptions,
  checkOptions,
  userSubscriptions,
  withRetryTopic,
} from './consumer-options.ts'
import { consumerServices, hasLocks } from './consumer-services.ts'
import { ConsumerStats } from './consumer-stats.ts'
import { consumerStatus } from './consumer-status.ts'
import { EndConditions } from './end-conditions.ts'
import type { Handler, MessageListener } from './listener.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { isTransient } from './pull-loop.ts'
import { Rebalance } from './rebalance.ts'
import { committedDone, storeStartOffsets } from './start-offsets.ts'

/** How long a handler that was told to end is waited for. */
const CUT_SHORT_GRACE_MS = 5_000
/** A member tells how it is doing this often, beside its heartbeats. */
const STATUS_EVERY_MS = 5_000

/** The life of a consumer, whatever its mode (RocketMQ `DefaultMQPushConsumerImpl`). It starts once. */
export class Consumer {
  readonly #broker: Broker
  readonly #mode: ConsumeMode
  readonly #options: AnyConsumerOptions
  readonly #model: MessageModel
  readonly #subscriptions: readonly Subscription[]
  readonly #stop = new AbortController()
  readonly #cutShort = new AbortController()
  readonly #counters: ConsumeCounters = {
    consumed: 0,
    deadLettered: 0,
    parked: 0,
    sentBack: 0,
    dropped: 0,
    failed: 0,
  }
  readonly #stats: ConsumerStats
  readonly #waitingFor = new Map<string, string>()
  #clientId: string
  #releaseClientId: (() => void) | undefined
  #rebalance: Rebalance | undefined
  #failure: { readonly error: unknown } | undefined
  #hasStarted = false

  constructor(broker: Broker, mode: ConsumeMode, options: AnyConsumerOptions) {
    this.#broker = broker
    this.#mode = mode
    this.#options = options
    this.#model = options.messageModel ?? 'clustering'
    this.#clientId = options.clientId ?? newClientId(broker.runtime)
    this.#stats = new ConsumerStats(broker.runtime)
    const wanted = userSubscriptions(options)
    const retries = mode === 'concurrent' && this.#model === 'clustering'
    this.#subscriptions = retries ? withRetryTopic(options.group, wanted) : wanted
    // Every running handler may listen to it: their number is no leak.
    setMaxListeners(0, this.#cutShort.signal)
  }

  get clientId(): string {
    return this.#clientId
  }

  /** Caches and rates as they are now (RocketMQ `ConsumerRunningInfo`). */
  status(): ConsumerStatus {
    return consumerStatus(this.#rebalance?.owned ?? [], this.#stats)
  }

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
      await handler.open?.()
      await this.#consume(handler)
    } finally {
      run.signal?.removeEventListener('abort', stop)
      this.#releaseClientId?.()
      await handler.close()
    }
    if (this.#failure) throw this.#failure.error
    return { ...this.#counters, drained: !this.#cutShort.signal.aborted }
  }

  async #consume(handler: Handler): Promise<void> {
    const ends = new EndConditions(this.#broker, this.#options, this.#topics, () => this.#stop.abort())
    for (const topic of new Set(this.#options.topics)) await this.#broker.subscribeQueues(topic)
    await this.#join()
    const services = await this.#services(handler, ends, (queue) => rebalance.lost(queue))
    const rebalance = this.#newRebalance(services, ends)
    this.#rebalance = rebalance
    const beats = this.#startBeats(rebalance)
    const stopListening = this.#broker.onNotification((notification) =>
      this.#notified(notification, rebalance),
    )
    try {
      const from = this.#options.from ?? 'earliest'
      for (const topic of this.#topics) {
        await storeStartOffsets(this.#broker, this.#offsetOwner(), topic, from)
      }
      await ends.start(rebalance, services)
      rebalance.trigger()
      await aborted(this.#stop.signal)
    } finally {
      await this.#shutDown(rebalance, services, ends, beats, stopListening)
    }
  }

  /** RocketMQ's order: no new batch, running handlers end, offsets, locks, membership. */
  async #shutDown(
    rebalance: Rebalance,
    services: ConsumeServices,
    ends: EndConditions,
    beats: readonly Beat[],
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
      for (const beat of beats) await beat.stop()
      await this.#broker.unregister(this.#options.group, this.#clientId)
    }
  }

  async #services(
    handler: Handler,
    ends: EndConditions,
    onLost: (queue: OwnedQueue) => void,
  ): Promise<ConsumeServices> {
    const config = await this.#broker.groupConfig(this.#options.group)
    const subscriptions = new Map(this.#subscriptions.map((one) => [one.topic, one]))
    return consumerServices(this.#broker, this.#options, config, {
      mode: this.#mode,
      clientId: this.#clientId,
      handler,
      stats: this.#stats,
      counters: this.#counters,
      cutShort: this.#cutShort.signal,
      subscriptionOf: (topic) =>
        subscriptions.get(topic) ?? { topic, expressionType: 'TAG', expression: '*' },
      emit: (event) => this.#emit(event),
      endOf: (mq) => ends.endOf(mq),
      lockLost: (queue, refusedCommit) => {
        const isNews = !queue.isLost || (refusedCommit && !queue.isRefusalTold)
        queue.isRefusalTold ||= refusedCommit
        if (!queue.isLost) onLost(queue)
        if (isNews) this.#emit({ kind: 'lock-lost', mq: queue.mq, refusedCommit })
      },
      progressed: () => ends.check(),
      fail: (error) => this.#fail(error),
      transient: (error, what) => this.#transient(error, what),
      ownedQueue: (mq) => ends.ownedQueue(mq),
      queuesOf: (topic) => this.#rebalance?.owned.filter(({ mq }) => mq.topic === topic).length ?? 0,
      onQuotaAvailable: () => ends.quotaAvailable(),
    })
  }

  #newRebalance(services: ConsumeServices, ends: EndConditions): Rebalance {
    return new Rebalance({
      broker: this.#broker,
      group: this.#options.group,
      clientId: this.#clientId,
      topics: this.#topics,
      lockTtlMs: this.#lockTtlMs,
      locks: hasLocks(this.#broker, services.policy),
      allocate: this.#allocate,
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
    const done = await committedDone(this.#broker, this.#offsetOwner(), grant.mq)
    this.#waitingFor.delete(queueKey(grant.mq))
    // Not by `carefulUntil`: that outlives clean hand-overs until it is passed.
    const unclean = isUnclean(grant.predecessor)
    this.#emit({ kind: 'queue-acquired', mq: grant.mq, epoch: grant.epoch, unclean })
    return consumeQueue(services, grant, done)
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

  /** The first heartbeat. A broadcasting member looks for the id that it had before. */
  async #join(): Promise<void> {
    if (this.#model === 'clustering' || this.#options.clientId !== undefined) {
      await this.#heartbeat()
      return
    }
    const { clientId, release } = await joinBroadcasting(this.#broker, this.#options.group, (id) => {
      this.#clientId = id
      return this.#heartbeat()
    })
    this.#clientId = clientId
    this.#releaseClientId = release
  }

  async #heartbeat(): Promise<void> {
    await this.#broker.heartbeat({
      group: this.#options.group,
      clientId: this.#clientId,
      mode: this.#mode,
      messageModel: this.#model,
      allocate: this.#allocateName,
      subscriptions: this.#subscriptions,
      status: this.status(),
      lockTtlMs: this.#lockTtlMs,
    })
  }

  /** Heartbeat and renewal three times in the life of a lock; how it is doing more often, while it does something. */
  #startBeats(rebalance: Rebalance): readonly Beat[] {
    const { runtime } = this.#broker
    const onError = (error: unknown) => this.#transient(error, 'heartbeat')
    const every = this.#lockTtlMs / LOCK_RENEWALS_PER_TTL
    const beat = startBeat(
      runtime,
      every,
      async () => {
        await this.#heartbeat()
        await rebalance.renew()
      },
      onError,
    )
    const stopSampling = this.#stats.start()
    let told = ''
    const tell = startBeat(
      runtime,
      STATUS_EVERY_MS,
      async () => {
        const status = JSON.stringify(this.status())
        if (status !== told) await this.#heartbeat()
        told = status
      },
      onError,
    )
    const sampling = {
      stop: async () => {
        stopSampling()
      },
    }
    return [beat, tell, sampling]
  }

  get #topics(): readonly string[] {
    return this.#subscriptions.map(({ topic }) => topic)
  }

  /** Whose offsets count: the group's, or this member's own. */
  #offsetOwner(): { readonly group: string; readonly clientId?: string } {
    const { group } = this.#options
    return this.#model === 'broadcasting' ? { group, clientId: this.#clientId } : { group }
  }

  /** A broadcasting member takes all queues. */
  get #allocate(): AllocateMessageQueueStrategy {
    if (this.#model === 'broadcasting') return (queues) => queues
    const { allocate = 'averagely' } = this.#options
    return typeof allocate === 'function' ? allocate : ALLOCATE_STRATEGIES[allocate]
  }

  /** What members have to agree on; a function of a user's own is another thing than the strategies with a name. */
  get #allocateName(): string {
    const { allocate = 'averagely' } = this.#options
    return typeof allocate === 'function' ? 'config' : allocate
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
