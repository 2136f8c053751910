import type { Fence } from '../broker.ts'
import type { QueueStatus } from '../model/group.ts'
import { LOCK_TRUST_SHARE, PULL_BATCH_MAX } from '../model/limits.ts'
import type { HandlerProcess, LockGrant } from '../model/lock.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import { Gate } from './gate.ts'
import type { OffsetPosition } from './offset-store.ts'
import type { Batch, ProcessQueue } from './process-queue.ts'

/** Why a queue is no longer ours. `lost`: the lock went to someone else; `removed`: we give it back. */
export type DropReason = 'lost' | 'removed'

export interface OwnedQueueOptions {
  readonly runtime: Runtime
  readonly group: string
  readonly clientId: string
  readonly grant: LockGrant & { granted: true }
  readonly position: OffsetPosition
  readonly processQueue: ProcessQueue
  readonly lockTtlMs: number
}

/**
 * One queue under our lock, from its grant to its end: what its two loops, the one that pulls and the one that
 * consumes, have in common. RocketMQ's three locks: the broker's queue lock is `epoch` and `trustedUntil`; the message queue lock is that
 * there is one consume loop; the consume lock is that `drop` resolves only when no handler runs.
 */
export class OwnedQueue {
  readonly mq: MessageQueue
  readonly epoch: number
  readonly fence: Fence
  readonly processQueue: ProcessQueue
  readonly position: OffsetPosition
  /** Offsets below may have been started by an owner that died. */
  readonly carefulUntil: number
  /** Raised when messages arrive, replays wait, the lock is renewed, or the queue is dropped. */
  readonly arrived = new Gate()
  /** Raised when the cache has room again. */
  readonly roomy = new Gate()
  /** Replayed messages may wait at the broker. */
  redeliveryPending = true
  isLookingForRedeliveries = false
  /** How many replayed messages are read at once. */
  redeliveryPage = PULL_BATCH_MAX
  /** The head waits for a person (`onExhausted: 'block'`). */
  isBlocked = false
  /** That a commit was refused has been told. */
  isRefusalTold = false
  /** Keys that wait behind a dead letter of theirs, as far as known here; the broker has the last word. */
  parkedKeys: ReadonlySet<string> = new Set()
  /** Since when the handlers of these batches run, where that is bounded (monotonic milliseconds). */
  readonly startedAt = new Map<Batch, number>()
  /** Batches that ran out of time: they were sent back, and their handler's answer counts no more. */
  readonly expired = new Set<Batch>()
  /** The processes in which its handlers run, as the broker knows them, by slot. */
  readonly handlerProcesses: (HandlerProcess | undefined)[] = []
  /** Slots of handlers that run now. */
  readonly usedSlots = new Set<number>()
  /** Why pulling pauses, if it does. */
  flowControl: QueueStatus['flowControl'] = null
  /** Resolves when both loops have ended. */
  ended: Promise<unknown> = Promise.resolve()
  readonly #runtime: Runtime
  readonly #lockTtlMs: number
  readonly #stopping = new AbortController()
  #trustedUntil = 0
  #dropped: DropReason | undefined

  constructor(options: OwnedQueueOptions) {
    const { runtime, group, clientId, grant, position, lockTtlMs } = options
    this.#runtime = runtime
    this.#lockTtlMs = lockTtlMs
    this.mq = grant.mq
    this.epoch = grant.epoch
    this.carefulUntil = grant.carefulUntil
    this.fence = { group, clientId, mq: grant.mq, epoch: grant.epoch }
    this.position = position
    this.processQueue = options.processQueue
    this.renewed()
  }

  /** Aborted as soon as the queue is dropped: held pulls and pauses end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  get isDropped(): boolean {
    return this.#dropped !== undefined
  }

  get isLost(): boolean {
    return this.#dropped === 'lost'
  }

  /** The broker confirmed the lock just now. */
  renewed(): void {
    this.#trustedUntil = this.#runtime.monotonic() + this.#lockTtlMs * LOCK_TRUST_SHARE
    this.arrived.raise()
  }

  /** Whether a batch may start: the last confirmation is younger than the time a lock is trusted. */
  get isTrusted(): boolean {
    return this.#runtime.monotonic() < this.#trustedUntil
  }

  /** No batch starts from now on; resolves when the running one has ended and is settled. */
  async drop(reason: DropReason): Promise<void> {
    if (this.#dropped !== 'lost') this.#dropped = reason
    this.#stopping.abort()
    this.arrived.raise()
    this.roomy.raise()
    await this.ended
  }
}
