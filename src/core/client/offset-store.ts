import type { Broker } from '../broker.ts'
import { CAREFUL_SPAN_MESSAGES, COMMIT_FLUSH_MS } from '../model/limits.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'

/** How far one owned queue is. */
export interface OffsetPosition {
  readonly mq: MessageQueue
  readonly epoch: number
  /** Next offset to consume, as this client sees it. */
  offset: number
  /** The last one the broker has accepted. */
  stored: number
}

export interface OffsetStoreOptions {
  readonly broker: Broker
  readonly runtime: Runtime
  readonly group: string
  readonly clientId: string
  /** A commit was refused: the lock of that queue went to another owner. */
  readonly onRefused: (mq: MessageQueue, epoch: number) => void
  /** A flush failed; the positions stay and are tried again soon. */
  readonly onError: (error: unknown) => void
}

/**
 * The offsets of one consumer (RocketMQ `RemoteBrokerOffsetStore`). Updates wait a few milliseconds, so that the
 * queues that are ready share one transaction: committing them one by one is what loses to other systems.
 */
export class OffsetStore {
  readonly #options: OffsetStoreOptions
  readonly #positions = new Map<string, OffsetPosition>()
  #cancelTimer: (() => void) | undefined
  #flushing: Promise<void> | undefined

  constructor(options: OffsetStoreOptions) {
    this.#options = options
  }

  /** A queue was acquired: its committed offset, under the lock's epoch. */
  acquire(mq: MessageQueue, epoch: number, committed: number): OffsetPosition {
    const position = { mq, epoch, offset: committed, stored: committed }
    this.#positions.set(queueKey(mq), position)
    return position
  }

  forget(position: OffsetPosition): void {
    const key = queueKey(position.mq)
    if (this.#positions.get(key) === position) this.#positions.delete(key)
  }

  /** Moves a position; it is stored within COMMIT_FLUSH_MS. */
  update(position: OffsetPosition, offset: number): void {
    if (offset <= position.offset) return
    position.offset = offset
    this.#flushLater()
  }

  /** The broker moved the committed offset itself, with a dead letter. */
  passed(position: OffsetPosition, offset: number): void {
    position.offset = Math.max(position.offset, offset)
    position.stored = Math.max(position.stored, offset)
  }

  /** Whether starting the message at `offset` would leave the span that a crash of ours may have touched. */
  isBeyondSpan(position: OffsetPosition, offset: number): boolean {
    return offset >= position.stored + CAREFUL_SPAN_MESSAGES
  }

  /** Stores everything that moved up to now. Never rejects: see `onError`. */
  async flush(): Promise<void> {
    // One after the other: two commits of a queue in flight at once could be applied in either order.
    while (this.#flushing) await this.#flushing
    this.#flushing = this.#store()
    try {
      await this.#flushing
    } finally {
      this.#flushing = undefined
    }
  }

  async #store(): Promise<void> {
    const moved = [...this.#positions.values()].filter(({ offset, stored }) => offset > stored)
    if (moved.length === 0) return
    const { broker, group, clientId } = this.#options
    const commits = moved.map(({ mq, epoch, offset }) => ({ mq, epoch, offset }))
    try {
      const accepted = await broker.commitOffsets(group, clientId, commits)
      for (const [i, position] of moved.entries()) {
        if (accepted[i]) position.stored = commits[i]?.offset ?? position.stored
        else this.#options.onRefused(position.mq, position.epoch)
      }
    } catch (error) {
      this.#options.onError(error)
      this.#flushLater()
    }
  }

  #flushLater(): void {
    this.#cancelTimer ??= this.#options.runtime.setTimer(COMMIT_FLUSH_MS, () => {
      this.#cancelTimer = undefined
      void this.flush()
    })
  }
}
