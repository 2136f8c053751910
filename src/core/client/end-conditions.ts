import type { Broker } from '../broker.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import type { ConsumeCounters, ConsumeServices } from './consume-services.ts'
import type { ConsumerOptions } from './consumer-options.ts'
import { OrderlyProcessQueue } from './orderly-process-queue.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Rebalance } from './rebalance.ts'

/** Ends a consumer by itself: after a count, at the end of its queues, or when nothing came for a while. */
export class EndConditions {
  readonly #broker: Broker
  readonly #options: ConsumerOptions
  readonly #topics: readonly string[]
  readonly #end: () => void
  /** Where each queue ended at the start; empty unless `exitAtEnd`. */
  readonly #ends = new Map<string, number>()
  #rebalance: Rebalance | undefined
  #services: ConsumeServices | undefined
  #cancelIdle: (() => void) | undefined
  #lastActivity = 0
  #isOver = false

  constructor(broker: Broker, options: ConsumerOptions, topics: readonly string[], end: () => void) {
    this.#broker = broker
    this.#options = options
    this.#topics = topics
    this.#end = end
  }

  async start(rebalance: Rebalance, services: ConsumeServices): Promise<void> {
    if (this.#options.exitAtEnd) {
      for (const topic of this.#topics) {
        for (const { mq, maxOffset } of await this.#broker.queueStats(topic)) {
          this.#ends.set(queueKey(mq), maxOffset)
        }
      }
    }
    this.#rebalance = rebalance
    this.#services = services
    this.#watchIdle()
  }

  stop(): void {
    this.#isOver = true
    this.#cancelIdle?.()
  }

  ownedQueue(mq: MessageQueue): OwnedQueue | undefined {
    return this.#rebalance?.ownedQueue(mq)
  }

  endOf(mq: MessageQueue): number {
    if (!this.#options.exitAtEnd) return Number.POSITIVE_INFINITY
    return this.#ends.get(queueKey(mq)) ?? 0
  }

  /** Looks whether it is over. Called whenever a queue has nothing to do, or may do nothing more. */
  check(): void {
    if (this.#isOver || !this.#rebalance || !this.#services) return
    const { counters } = this.#services
    const count = this.#options.count ?? Number.POSITIVE_INFINITY
    const isAtEnd = this.#options.exitAtEnd && this.#isAtEnd(this.#rebalance)
    if (isAtEnd || hasLeft(counters) >= count) this.#finish()
    this.#lastActivity = this.#broker.runtime.monotonic()
  }

  /** A message that failed gave its place back: another queue may have the next one. */
  quotaAvailable(): void {
    for (const queue of this.#rebalance?.owned ?? []) queue.arrived.raise()
  }

  /** Every queue that the allocation gives us is ours, consumed up to its end, and has no replays in front. */
  #isAtEnd(rebalance: Rebalance): boolean {
    return (
      rebalance.allocated?.every((mq) => {
        const queue = rebalance.ownedQueue(mq)
        if (!queue || queue.isDropped) return false
        if (awaitsRedeliveries(queue) || hasWork(queue)) return false
        // What was never committed, or waits for a person, is left to the next one.
        if (queue.processQueue.heldCount > 0 || isStuck(queue)) return true
        return queue.position.offset >= this.endOf(mq)
      }) ?? false
    )
  }

  #watchIdle(): void {
    const { idleTimeoutMs } = this.#options
    const { runtime } = this.#broker
    if (idleTimeoutMs === undefined || this.#isOver) return
    this.#lastActivity = runtime.monotonic()
    const look = () => {
      const isBusy = this.#rebalance?.owned.some(hasWork)
      if (isBusy) this.#lastActivity = runtime.monotonic()
      const left = this.#lastActivity + idleTimeoutMs - runtime.monotonic()
      if (left <= 0) this.#finish()
      else this.#cancelIdle = runtime.setTimer(left, look)
    }
    this.#cancelIdle = runtime.setTimer(idleTimeoutMs, look)
  }

  #finish(): void {
    this.#isOver = true
    this.#end()
  }
}

function awaitsRedeliveries(queue: OwnedQueue): boolean {
  const { redeliveryPending, isLookingForRedeliveries, processQueue } = queue
  return redeliveryPending || isLookingForRedeliveries || processQueue.needsRedeliveries
}

/** Whether messages wait or run; those that only wait for a commit need nothing but a word. */
function hasWork(queue: OwnedQueue): boolean {
  const { processQueue } = queue
  return processQueue.msgCount > processQueue.heldCount && !isStuck(queue)
}

/** Its head waits for a person, and nothing may pass it. */
function isStuck({ isBlocked, processQueue }: OwnedQueue): boolean {
  if (!isBlocked || !(processQueue instanceof OrderlyProcessQueue)) return false
  return processQueue.consuming === 0 && !processQueue.hasRedeliveries
}

/** Messages that have left their queue for good. */
function hasLeft({ consumed, deadLettered, parked, dropped }: ConsumeCounters): number {
  return consumed + deadLettered + parked + dropped
}
