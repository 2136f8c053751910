import type { Broker, OffsetCommit } from '../broker.ts'
import { type Done, type DoneRange, doneEnd } from '../model/done-ranges.ts'
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
  /** Beyond this nothing is known to the broker as done with. */
  storedEnd: number
  /** Something moved that is not stored yet. */
  isDirty: boolean
  /** What is done with beyond `offset`; absent where messages end in order. */
  readonly ahead: (() => readonly DoneRange[]) | undefined
}

export interface OffsetStoreOptions {
  readonly broker: Broker
  readonly runtime: Runtime
  readonly group: string
  readonly clientId: string
  /** `local`: each member keeps its own offsets, without a lock (broadcasting). */
  readonly scope: 'group' | 'local'
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

  /** A queue was acquired: how far the group is, under the lock's epoch. */
  acquire(
    mq: MessageQueue,
    epoch: number,
    done: Done,
    ahead: (() => readonly DoneRange[]) | undefined,
  ): OffsetPosition {
    const { offset } = done
    const position = { mq, epoch, offset, stored: offset, storedEnd: doneEnd(done), isDirty: false, ahead }
    this.#positions.set(queueKey(mq), position)
    return position
  }

  forget(position: OffsetPosition): void {
    const key = queueKey(position.mq)
    if (this.#positions.get(key) === position) this.#positions.delete(key)
  }

  /** Moves a position, or tells that something beyond it is done with; it is stored within COMMIT_FLUSH_MS. */
  update(position: OffsetPosition, offset: number): void {
    if (offset <= position.offset && !position.ahead) return
    position.offset = Math.max(position.offset, offset)
    position.isDirty = true
    this.#flushLater()
  }

  /** The broker moved the committed offset itself, with a dead letter. */
  passed(position: OffsetPosition, offset: number): void {
    position.offset = Math.max(position.offset, offset)
    position.stored = Math.max(position.stored, offset)
    position.storedEnd = Math.max(position.storedEnd, offset)
  }

  /** Whether starting the message at `offset` would leave the span that a crash of ours may have touched. */
  isBeyondSpan(position: OffsetPosition, offset: number): boolean {
    return offset >= position.storedEnd + CAREFUL_SPAN_MESSAGES
  }

  /**
   * Begins to store what moved in a position, so that a write which follows in the same turn comes behind it, in the
   * same transaction where the broker shares them. A promise to wait for when others are being stored now.
   */
  beginFlush(position: OffsetPosition): Promise<void> | undefined {
    if (!position.isDirty) return undefined
    if (this.#flushing) return this.#flushing.then(() => this.beginFlush(position))
    void this.flush()
    return undefined
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
    const moved = [...this.#positions.values()].filter(({ isDirty }) => isDirty)
    if (moved.length === 0) return
    const commits = moved.map(({ mq, epoch, offset, ahead }) => ({
      mq,
      epoch,
      offset,
      ...(ahead && { ahead: ahead() }),
    }))
    for (const position of moved) position.isDirty = false
    try {
      const accepted = await this.#commit(commits)
      for (const [i, position] of moved.entries()) {
        const { offset = 0, ahead = [] } = commits[i] ?? {}
        if (!accepted[i]) this.#options.onRefused(position.mq, position.epoch)
        else {
          position.stored = Math.max(position.stored, offset)
          position.storedEnd = Math.max(position.storedEnd, doneEnd({ offset, ahead }))
        }
      }
    } catch (error) {
      for (const position of moved) position.isDirty = true
      this.#options.onError(error)
      this.#flushLater()
    }
  }

  async #commit(commits: readonly OffsetCommit[]): Promise<readonly boolean[]> {
    const { broker, group, clientId, scope } = this.#options
    if (scope === 'group') return broker.commitOffsets(group, clientId, commits)
    await broker.commitLocalOffsets(group, clientId, commits)
    return commits.map(() => true)
  }

  #flushLater(): void {
    this.#cancelTimer ??= this.#options.runtime.setTimer(COMMIT_FLUSH_MS, () => {
      this.#cancelTimer = undefined
      void this.flush()
    })
  }
}
