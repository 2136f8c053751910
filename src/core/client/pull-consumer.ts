import type { Broker, PullResult } from '../broker.ts'
import {
  LOCK_RENEWALS_PER_TTL,
  LOCK_TTL_MS,
  POLL_TIMEOUT_MS,
  PULL_MESSAGES_DEFAULT,
} from '../model/limits.ts'
import type { MessageExt } from '../model/message.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import { assertGroupName } from '../model/names.ts'
import type { AssignedQueue } from './assigned-queue.ts'
import { Assignment } from './assignment.ts'
import { newClientId } from './client-id.ts'
import { commitPositions, type PositionCommit } from './commit-positions.ts'
import { type Beat, startBeat } from './consumer-heart.ts'
import { subscriptionOf } from './message-filter.ts'
import {
  assignmentLost,
  atLeastOne,
  commitRefused,
  consumerClosed,
  locksHeld,
  noAssignment,
  notAssigned,
  offsetOutside,
} from './pull-errors.ts'
import { checkReadable, statsOf } from './pull-lookups.ts'
import { PullMembership } from './pull-membership.ts'
import type {
  AssignResult,
  PollOptions,
  PullConsumerOptions,
  PullEvent,
  PullOptions,
} from './pull-options.ts'
import { waitForMessages } from './wait-for-messages.ts'

/**
 * Reads queues at its own pace (RocketMQ `DefaultMQPullConsumer` and the assigned form of `DefaultLitePullConsumer`).
 *
 * `pull` and `committed` only look. `assign` takes queues under their locks, so that nobody else of the group has
 * them; `poll` then reads on from the committed offsets, in order, and moves positions only: what was polled comes
 * again until `commit` or `commitAll` says that it is done. RocketMQ's lite consumer commits at the next poll by
 * itself, and takes no locks; here a commit by one who has lost the lock is refused.
 */
export class PullConsumer implements AsyncDisposable {
  readonly clientId: string
  readonly #broker: Broker
  readonly #options: PullConsumerOptions
  readonly #assignment: Assignment
  readonly #membership: PullMembership
  #beat: Beat | undefined
  #stopListening: (() => void) | undefined
  /** Aborted when a poll that waits should look again. */
  #changed = new AbortController()
  #polling: Promise<unknown> = Promise.resolve()
  /** Key of the queue that was read last: the next poll begins behind it. */
  #lastRead: string | undefined
  #isClosed = false

  /** INVALID_NAME for a group that cannot be, INVALID_ARGUMENT for two filters. */
  constructor(broker: Broker, options: PullConsumerOptions) {
    assertGroupName(options.group)
    subscriptionOf('', options)
    this.#broker = broker
    this.#options = options
    this.clientId = options.clientId ?? newClientId(broker.runtime)
    const { group, lockTtlMs = LOCK_TTL_MS, from = 'earliest' } = options
    atLeastOne('lockTtlMs', lockTtlMs)
    const member = { broker, group, clientId: this.clientId, lockTtlMs }
    this.#membership = new PullMembership(member)
    this.#assignment = new Assignment({
      ...member,
      from,
      subscriptionOf: (topic) => subscriptionOf(topic, options),
      emit: (event) => this.#emit(event),
    })
  }

  /** The queues of a topic, in RocketMQ's order. TOPIC_NOT_FOUND. */
  messageQueues(topic: string): Promise<readonly MessageQueue[]> {
    return this.#broker.subscribeQueues(topic)
  }

  /** Reads from an offset on, wherever the group is; needs no assignment. Go on at `nextOffset`, whatever the status. */
  pull(mq: MessageQueue, options: PullOptions): Promise<PullResult> {
    const { offset, max = PULL_MESSAGES_DEFAULT, waitMs = 0, signal } = options
    return this.#broker.pull({
      group: this.#options.group,
      mq,
      offset,
      maxMessages: max,
      subscription: subscriptionOf(mq.topic, options),
      waitMs,
      ...(signal && { signal }),
    })
  }

  /** The next offset to consume; `null` when the group never started on this queue. */
  async committed(mq: MessageQueue): Promise<number | null> {
    const offsets = await this.#broker.committedOffsets(this.#options.group, mq.topic)
    return offsets.find((one) => queueKey(one.mq) === queueKey(mq))?.offset ?? null
  }

  get assignment(): readonly MessageQueue[] {
    return this.#assignment.queues.map(({ mq }) => mq)
  }

  /**
   * Makes these the queues of this consumer, all or none of them; others that it had are given back. A queue that it
   * keeps keeps its position, a new one begins at the committed offset. LOCK_HELD names who has one of them.
   */
  async assign(mqs: readonly MessageQueue[]): Promise<void> {
    const { held } = await this.tryAssign(mqs)
    if (held.length === 0) return
    await this.#assignment.releaseAll()
    throw locksHeld(this.#options.group, held)
  }

  /** The same with those that can be had. TOPIC_NOT_FOUND, QUEUE_NOT_FOUND, GROUP_CONFLICT, CLIENT_ID_IN_USE. */
  async tryAssign(mqs: readonly MessageQueue[]): Promise<AssignResult> {
    if (this.#isClosed) throw consumerClosed()
    await checkReadable(this.#broker, mqs)
    const topics = [...new Set(mqs.map(({ topic }) => topic))]
    const subscriptions = topics.map((topic) => subscriptionOf(topic, this.#options))
    // Loaded here: whoever only looks needs no parser of expressions.
    const { checkSubscription } = await import('../model/subscription.ts')
    for (const subscription of subscriptions) checkSubscription(subscription)
    await this.#membership.join(subscriptions)
    this.#start()
    const held = await this.#assignment.replace(mqs)
    this.#wake()
    return { assigned: this.assignment, held }
  }

  /**
   * What comes next in one of the assigned queues, each in its turn; nothing when nothing came in time. Polls that
   * run at once take turns. LOCK_LOST when every assigned queue went to someone else.
   */
  poll(options: PollOptions = {}): Promise<readonly MessageExt[]> {
    if (this.#isClosed) return Promise.reject(consumerClosed())
    const polled = this.#polling.then(() => this.#poll(options))
    this.#polling = polled.catch(() => {})
    return polled
  }

  /** Where the next poll goes on in that queue. */
  position(mq: MessageQueue): number {
    return this.#assigned(mq).position
  }

  /** Goes on at that offset; what is committed stays. INVALID_ARGUMENT unless min <= offset <= max. */
  async seek(mq: MessageQueue, offset: number): Promise<void> {
    const queue = this.#assigned(mq)
    const stats = await statsOf(this.#broker, mq)
    const isInside = Number.isSafeInteger(offset) && offset >= stats.minOffset && offset <= stats.maxOffset
    if (!isInside) throw offsetOutside('seek to', offset, stats)
    queue.seek(offset)
    this.#wake()
  }

  async seekToBegin(mq: MessageQueue): Promise<void> {
    await this.seek(mq, (await statsOf(this.#broker, mq)).minOffset)
  }

  async seekToEnd(mq: MessageQueue): Promise<void> {
    await this.seek(mq, (await statsOf(this.#broker, mq)).maxOffset)
  }

  /** Polls leave these queues out; their locks are kept. */
  pause(mqs: readonly MessageQueue[]): void {
    for (const mq of mqs) this.#assigned(mq).isPaused = true
  }

  resume(mqs: readonly MessageQueue[]): void {
    for (const mq of mqs) this.#assigned(mq).isPaused = false
    this.#wake()
  }

  /**
   * Everything of the queue below `offset` is done, and replayed messages that were polled before the last of it.
   * It moves forward only. LOCK_LOST when another one has the queue: nothing was moved.
   */
  async commit(mq: MessageQueue, offset: number): Promise<void> {
    const queue = this.#assigned(mq)
    const stats = await statsOf(this.#broker, mq)
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > stats.maxOffset) {
      throw offsetOutside('commit', offset, { ...stats, minOffset: 0 })
    }
    await this.#commit([{ queue, offset, replayed: queue.replayedBefore(offset) }])
  }

  /** Everything that was polled is done. LOCK_LOST names the queues where that was refused; the others are committed. */
  async commitAll(): Promise<void> {
    const queues = this.#assignment.queues.filter(({ hasUncommitted }) => hasUncommitted)
    await this.#commit(
      queues.map((queue) => ({ queue, offset: queue.position, replayed: queue.allReplayed })),
    )
  }

  /** Gives all queues back and leaves the group. What was not committed comes again. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wake()
    this.#stopListening?.()
    await this.#beat?.stop()
    await this.#polling
    try {
      await this.#assignment.releaseAll()
    } finally {
      await this.#membership.leave()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #poll({ timeoutMs = POLL_TIMEOUT_MS, max = PULL_MESSAGES_DEFAULT, signal }: PollOptions) {
    const { runtime } = this.#broker
    atLeastOne('max', max)
    const deadline = runtime.monotonic() + timeoutMs
    for (;;) {
      const changed = this.#changed.signal
      this.#refuseNothingToPoll()
      const messages = await this.#readNext(max)
      const rest = deadline - runtime.monotonic()
      if (messages.length > 0 || rest <= 0 || signal?.aborted || this.#isClosed) return messages
      const places = this.#readable().map(({ mq, position }) => ({
        mq,
        offset: position,
        ...this.#inOrder(),
      }))
      await waitForMessages(this.#broker, places, rest, signal ? AbortSignal.any([changed, signal]) : changed)
    }
  }

  async #readNext(max: number): Promise<readonly MessageExt[]> {
    const queues = this.#readable()
    const next = queues.findIndex(({ mq }) => queueKey(mq) === this.#lastRead) + 1
    for (const queue of [...queues.slice(next), ...queues.slice(0, next)]) {
      const messages = await queue.fetch(max)
      if (messages.length === 0) continue
      this.#lastRead = queueKey(queue.mq)
      return messages
    }
    return []
  }

  #readable(): readonly AssignedQueue[] {
    return this.#assignment.queues.filter(({ isReadable }) => isReadable)
  }

  #inOrder() {
    return { group: this.#options.group, ordered: true }
  }

  async #commit(commits: readonly PositionCommit[]): Promise<void> {
    const { group } = this.#options
    const refused = await commitPositions(this.#broker, group, this.clientId, commits)
    for (const queue of refused) this.#assignment.lost(queue, true)
    if (refused.length === 0) return
    throw commitRefused(
      group,
      refused.map(({ mq }) => mq),
    )
  }

  /** Heartbeat and renewal of the locks, three times in their life. */
  #start(): void {
    const { runtime } = this.#broker
    const { lockTtlMs = LOCK_TTL_MS, group } = this.#options
    if (this.#beat || this.#isClosed) return
    this.#stopListening = this.#broker.onNotification((notification) => {
      if (notification.kind === 'notice') this.#emit(notification)
      else if (notification.group === group && notification.kind === 'redelivery') this.#wake()
    })
    const beat = async () => {
      await this.#membership.heartbeat()
      await this.#assignment.renew()
      this.#wake()
    }
    this.#beat = startBeat(runtime, lockTtlMs / LOCK_RENEWALS_PER_TTL, beat, (error) => {
      // Locks that cannot be renewed are not trusted for long: then polls find nothing readable, and commits are refused.
      const text = error instanceof Error ? error.message : String(error)
      this.#emit({ kind: 'notice', text: `the locks could not be renewed: ${text}` })
    })
  }

  #assigned(mq: MessageQueue): AssignedQueue {
    const queue = this.#assignment.find(mq)
    if (queue) return queue
    throw this.#assignment.wasLost(mq) ? commitRefused(this.#options.group, [mq]) : notAssigned(mq)
  }

  #refuseNothingToPoll(): void {
    if (this.#isClosed || this.#assignment.queues.length > 0) return
    throw this.#assignment.hasLost ? assignmentLost(this.#options.group) : noAssignment()
  }

  #wake(): void {
    const changed = this.#changed
    this.#changed = new AbortController()
    changed.abort()
  }

  #emit(event: PullEvent): void {
    this.#options.onEvent?.(event)
  }
}
