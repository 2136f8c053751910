import type { Broker, Fence } from '../broker.ts'
import type { Done, DoneRange } from '../model/done-ranges.ts'
import type { Subscription } from '../model/group.ts'
import { LOCK_TRUST_SHARE } from '../model/limits.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'

export interface AssignedQueueOptions {
  readonly broker: Broker
  readonly fence: Fence
  readonly done: Done
  readonly subscription: Subscription
  readonly lockTtlMs: number
  readonly onMoved: (from: number, to: number) => void
  readonly onLost: (queue: AssignedQueue) => void
}

/** One queue under the lock of a pull consumer, and how far it was read. */
export class AssignedQueue {
  readonly mq: MessageQueue
  readonly fence: Fence
  /** The next offset to deliver. */
  position: number
  /** As far as we know: below it the group is done. */
  committed: number
  isPaused = false
  /** The lock went to someone else. */
  isLost = false
  readonly #options: AssignedQueueOptions
  /** What the group was done with beyond its committed offset when we came. */
  #ahead: readonly DoneRange[]
  /** Replayed messages that were delivered and not yet settled: by id, with the position at that time. */
  readonly #replayed = new Map<number, number>()
  #trustedUntil = 0

  constructor(options: AssignedQueueOptions) {
    this.#options = options
    this.mq = options.fence.mq
    this.fence = options.fence
    this.position = options.done.offset
    this.committed = options.done.offset
    this.#ahead = options.done.ahead
    this.renewed()
  }

  /** The broker confirmed the lock just now. */
  renewed(): void {
    const { broker, lockTtlMs } = this.#options
    this.#trustedUntil = broker.runtime.monotonic() + lockTtlMs * LOCK_TRUST_SHARE
  }

  /** Whether it may be read: not for longer than half of the lock's life without a renewal. */
  get isReadable(): boolean {
    return !this.isPaused && this.#options.broker.runtime.monotonic() < this.#trustedUntil
  }

  get hasUncommitted(): boolean {
    return this.position > this.committed || this.#replayed.size > 0
  }

  /** Goes on at that offset, and delivers everything from there on. */
  seek(offset: number): void {
    this.position = offset
    this.#ahead = []
  }

  /** What comes next, at most `max`; nothing when nothing is there now. Replayed messages were there first. */
  async fetch(max: number): Promise<readonly MessageExt[]> {
    const { parkedKeys, runtime } = this.#options.broker
    while (!this.isLost) {
      // Before the lane is read: a key that is opened in between has its messages in the lane by then.
      const parked = new Set(await parkedKeys?.list(this.fence))
      const replayed = await this.#fetchReplayed(max)
      if (replayed.length > 0) return replayed
      const from = this.position
      const messages = await this.#fetchLive(max)
      if (messages === undefined) return []
      const kept = await this.#park(messages, parked)
      if (kept === undefined) this.position = from
      else if (kept.length > 0) return kept
      // A filter may pass over a million messages: locks are renewed meanwhile.
      await new Promise<void>((resolve) => runtime.defer(resolve))
    }
    return []
  }

  /** Ids of replayed messages that a commit up to `offset` settles: those delivered before the last of what it covers. */
  replayedBefore(offset: number): readonly number[] {
    return [...this.#replayed].filter(([, at]) => at < offset).map(([id]) => id)
  }

  get allReplayed(): readonly number[] {
    return [...this.#replayed.keys()]
  }

  settled(deadLetterIds: readonly number[]): void {
    for (const id of deadLetterIds) this.#replayed.delete(id)
  }

  async #fetchReplayed(max: number): Promise<readonly MessageExt[]> {
    const { redelivery } = this.#options.broker
    if (!redelivery) return []
    // Those that were delivered stay in the lane until they are settled.
    const waiting = await redelivery.pull(this.fence, max + this.#replayed.size)
    const fresh = waiting.filter((message) => !this.#replayed.has(idOf(message))).slice(0, max)
    for (const message of fresh) this.#replayed.set(idOf(message), this.position)
    return fresh
  }

  /** Live messages that the group is not done with; may be none although there are more. `undefined`: at the end. */
  async #fetchLive(max: number): Promise<readonly MessageExt[] | undefined> {
    const { broker, fence, subscription } = this.#options
    const offset = this.position
    const result = await broker.pull({
      group: fence.group,
      mq: this.mq,
      offset,
      maxMessages: max,
      subscription,
      ordered: true,
      waitMs: 0,
    })
    // A seek came in between: what it wants is what counts.
    if (this.position !== offset) return []
    this.position = result.nextOffset
    if (result.status === 'NO_NEW_MSG') return undefined
    if (result.status === 'OFFSET_ILLEGAL') this.#options.onMoved(offset, result.nextOffset)
    return result.messages.filter(({ queueOffset }) => !isWithin(this.#ahead, queueOffset))
  }

  /** Puts messages of parked keys behind their dead letter. `undefined`: look again, something changed meanwhile. */
  async #park(
    messages: readonly MessageExt[],
    parked: ReadonlySet<string>,
  ): Promise<readonly MessageExt[] | undefined> {
    const { parkedKeys } = this.#options.broker
    const isParked = ({ key }: MessageExt) => key !== null && parked.has(key)
    const theirs = messages.filter(isParked)
    if (!parkedKeys || theirs.length === 0) return messages
    const outcome = await parkedKeys.park(this.fence, theirs, null)
    if (outcome === 'parked') return messages.filter((message) => !isParked(message))
    if (outcome === 'lost') {
      this.#options.onLost(this)
      return []
    }
    return undefined
  }
}

function idOf({ redelivery }: MessageExt): number {
  return redelivery?.deadLetterId ?? -1
}

function isWithin(ranges: readonly DoneRange[], offset: number): boolean {
  return ranges.some(([from, to]) => from <= offset && offset < to)
}
