import type { Broker } from '../broker.ts'
import { LOCK_RETRY_MS, REBALANCE_INTERVAL_MS } from '../model/limits.ts'
import type { LockGrant, LockHolder } from '../model/lock.ts'
import { compareText, type MessageQueue, queueKey } from '../model/message-queue.ts'
import type { AllocateMessageQueueStrategy } from './allocate.ts'
import type { OwnedQueue } from './owned-queue.ts'

export interface RebalanceOptions {
  readonly broker: Broker
  readonly group: string
  readonly clientId: string
  readonly topics: readonly string[]
  readonly lockTtlMs: number
  /** False: a queue belongs to whom the allocation says, without a lock. */
  readonly locks: boolean
  readonly allocate: AllocateMessageQueueStrategy
  /** A lock was granted: begin to consume the queue. */
  readonly acquire: (grant: LockGrant & { granted: true }) => Promise<OwnedQueue>
  /** A queue's last handler has ended: store its offset before it is unlocked. */
  readonly release: (queue: OwnedQueue) => Promise<void>
  /** A renewal was refused. */
  readonly onLost: (queue: OwnedQueue) => void
  readonly onWaiting: (mq: MessageQueue, holder: LockHolder | null) => void
  readonly onError: (error: unknown) => void
  /** The queues of this member were settled once more. */
  readonly onSettled: () => void
}

/**
 * Keeps this member's queues in step with its group (RocketMQ `RebalanceImpl`): queues that the allocation gives
 * it are added under their lock, the others removed when their running handler is done. One round at a time.
 */
export class Rebalance {
  readonly #options: RebalanceOptions
  readonly #owned = new Map<string, OwnedQueue>()
  readonly #removing = new Map<string, Promise<void>>()
  #round: Promise<void> | undefined
  #again = false
  #stopped = false
  #locking: Promise<unknown> = Promise.resolve()
  #cancelTimer: (() => void) | undefined
  /** Queues that the allocation gives this member, whether it has their locks yet or not. */
  #allocated: readonly MessageQueue[] | undefined

  constructor(options: RebalanceOptions) {
    this.#options = options
  }

  get owned(): readonly OwnedQueue[] {
    return [...this.#owned.values()]
  }

  /** `undefined` before the first round, and while it is not among the members. */
  get allocated(): readonly MessageQueue[] | undefined {
    return this.#allocated
  }

  ownedQueue(mq: MessageQueue): OwnedQueue | undefined {
    return this.#owned.get(queueKey(mq))
  }

  /** Allocates again as soon as the running round is over. */
  trigger(): void {
    if (this.#stopped) return
    this.#again = true
    this.#round ??= this.#run().finally(() => {
      this.#round = undefined
    })
  }

  /** The lock went to someone else: the queue leaves at once, and comes back when the allocation still says so. */
  lost(queue: OwnedQueue): void {
    this.#remove(queue, 'lost')
    this.#schedule(LOCK_RETRY_MS)
  }

  /** Renews every lock that is held, also of queues whose handler still runs while they are given back. */
  renew(): Promise<void> {
    return this.#exclusively(() => this.#renew())
  }

  async #renew(): Promise<void> {
    const queues = this.owned.filter((queue) => !queue.isLost)
    if (queues.length === 0) return
    const grants = await this.#lock(
      queues.map(({ mq }) => mq),
      queues.map(({ epoch }) => epoch),
    )
    for (const [i, queue] of queues.entries()) {
      const grant = grants[i]
      if (grant?.granted && grant.epoch === queue.epoch) queue.renewed()
      else this.#options.onLost(queue)
    }
  }

  /** Gives everything back. Resolves when the last handler has ended and the locks are free. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    await this.#round
    for (const queue of this.owned) this.#remove(queue, 'removed')
    await Promise.all(this.#removing.values())
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      this.#cancelTimer?.()
      try {
        await this.#rebalance()
        this.#options.onSettled()
      } catch (error) {
        this.#options.onError(error)
        this.#schedule(LOCK_RETRY_MS)
      }
    }
  }

  async #rebalance(): Promise<void> {
    // A lock may have been taken away from outside; an idle queue would not hear of it before its next renewal.
    await this.renew()
    const shares = await Promise.all(this.#options.topics.map((topic) => this.#allocate(topic)))
    const allocated = shares.flatMap((share) => share ?? [])
    // Who has no share cannot be at its end.
    this.#allocated = shares.includes(undefined) ? undefined : allocated
    const mine = new Set(allocated.map(queueKey))
    for (const [key, queue] of this.#owned) {
      if (!mine.has(key)) this.#remove(queue, 'removed')
    }
    const missing = allocated.filter((mq) => !this.#owned.has(queueKey(mq)))
    const refused = missing.length > 0 ? await this.#add(missing) : 0
    this.#schedule(refused > 0 ? LOCK_RETRY_MS : REBALANCE_INTERVAL_MS)
  }

  /** `undefined`: it is not among the members, as nobody is while the group is disabled. */
  async #allocate(topic: string): Promise<readonly MessageQueue[] | undefined> {
    const { broker, group, clientId, allocate } = this.#options
    const [queues, ids] = await Promise.all([
      broker.subscribeQueues(topic, group),
      broker.memberIds(group, topic),
    ])
    return ids.includes(clientId) ? allocate(queues, [...ids].sort(compareText), clientId) : undefined
  }

  /** Locks queues and begins to consume those that were granted; answers how many were refused. */
  async #add(mqs: readonly MessageQueue[]): Promise<number> {
    const grants = await this.#exclusively(() => this.#lock(mqs))
    let refused = 0
    for (const grant of grants) {
      if (grant.granted) {
        this.#owned.set(queueKey(grant.mq), await this.#options.acquire(grant))
      } else {
        refused++
        this.#options.onWaiting(grant.mq, grant.holder)
      }
    }
    return refused
  }

  /** Takes a queue away; it stays among the owned until its handler has ended, so that its lock is renewed. */
  #remove(queue: OwnedQueue, reason: 'lost' | 'removed'): void {
    const key = queueKey(queue.mq)
    const dropped = queue.drop(reason)
    if (this.#removing.has(key)) return
    const removed = dropped
      .then(() => this.#giveBack(queue))
      .catch(this.#options.onError)
      .finally(() => {
        this.#removing.delete(key)
        if (this.#owned.get(key) === queue) this.#owned.delete(key)
        this.trigger()
      })
    this.#removing.set(key, removed)
  }

  async #giveBack(queue: OwnedQueue): Promise<void> {
    const { broker, group, clientId, locks, release } = this.#options
    await release(queue)
    await this.#exclusively(async () => {
      // From here on a renewal leaves it out.
      this.#owned.delete(queueKey(queue.mq))
      // Also when it was lost: a late renewal may have got it back, which kept others away until the handler ended.
      if (locks) await broker.unlockBatch(group, clientId, [queue.mq])
    })
  }

  async #lock(mqs: readonly MessageQueue[], epochs?: readonly number[]): Promise<readonly LockGrant[]> {
    const { broker, group, clientId, lockTtlMs, locks } = this.#options
    if (locks) return broker.lockBatch(group, clientId, mqs, lockTtlMs, epochs)
    return mqs.map((mq) => ({ mq, granted: true, epoch: 0, predecessor: 'none', carefulUntil: 0 }))
  }

  /** One after the other: a renewal that overtook an unlock would take the lock again, for nobody. */
  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#locking
    const mine = before.then(work)
    this.#locking = mine.catch(() => {})
    return mine
  }

  #schedule(ms: number): void {
    if (this.#stopped) return
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.broker.runtime.setTimer(ms, () => this.trigger())
  }
}
