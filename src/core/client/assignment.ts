import type { Broker } from '../broker.ts'
import type { Subscription } from '../model/group.ts'
import type { LockGrant } from '../model/lock.ts'
import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import { AssignedQueue } from './assigned-queue.ts'
import type { ConsumeFrom } from './consumer-options.ts'
import type { HeldQueue, PullEvent } from './pull-options.ts'
import { committedDone, storeStartOffsets } from './start-offsets.ts'

export interface AssignmentOptions {
  readonly broker: Broker
  readonly group: string
  readonly clientId: string
  readonly lockTtlMs: number
  readonly from: ConsumeFrom
  readonly subscriptionOf: (topic: string) => Subscription
  readonly emit: (event: PullEvent) => void
}

/** The queues that a pull consumer has, each under its lock. Where a broker has no fencing, locks mean nothing to it. */
export class Assignment {
  readonly #options: AssignmentOptions
  readonly #queues = new Map<string, AssignedQueue>()
  readonly #lost = new Set<string>()
  #locking: Promise<unknown> = Promise.resolve()

  constructor(options: AssignmentOptions) {
    this.#options = options
  }

  get queues(): readonly AssignedQueue[] {
    return [...this.#queues.values()]
  }

  find(mq: MessageQueue): AssignedQueue | undefined {
    return this.#queues.get(queueKey(mq))
  }

  /** Whether we had it, and another one has it now. */
  wasLost(mq: MessageQueue): boolean {
    return this.#lost.has(queueKey(mq))
  }

  get hasLost(): boolean {
    return this.#lost.size > 0
  }

  /** Makes these the assigned queues, as far as their locks can be had; answers the others. */
  replace(mqs: readonly MessageQueue[]): Promise<readonly HeldQueue[]> {
    return this.#exclusively(async () => {
      const wanted = new Set(mqs.map(queueKey))
      await this.#release(this.queues.filter(({ mq }) => !wanted.has(queueKey(mq))))
      this.#lost.clear()
      const missing = mqs.filter((mq) => !this.#queues.has(queueKey(mq)))
      if (missing.length === 0) return []
      const held: HeldQueue[] = []
      const granted: (LockGrant & { granted: true })[] = []
      for (const grant of await this.#lock(missing)) {
        if (grant.granted) granted.push(grant)
        else held.push({ mq: grant.mq, holder: grant.holder })
      }
      await this.#add(granted)
      return held
    })
  }

  /** Confirms the locks. Those that were refused are lost. */
  renew(): Promise<void> {
    return this.#exclusively(async () => {
      const queues = this.queues
      if (queues.length === 0) return
      const grants = await this.#lock(
        queues.map(({ mq }) => mq),
        queues.map(({ fence }) => fence.epoch),
      )
      for (const [i, queue] of queues.entries()) {
        if (grants[i]?.granted) queue.renewed()
        else this.lost(queue, false)
      }
    })
  }

  releaseAll(): Promise<void> {
    return this.#exclusively(() => this.#release(this.queues))
  }

  lost(queue: AssignedQueue, refusedCommit: boolean): void {
    if (queue.isLost) return
    queue.isLost = true
    const key = queueKey(queue.mq)
    if (this.#queues.get(key) === queue) this.#queues.delete(key)
    this.#lost.add(key)
    this.#options.emit({ kind: 'lock-lost', mq: queue.mq, refusedCommit })
  }

  async #lock(mqs: readonly MessageQueue[], epochs?: readonly number[]): Promise<readonly LockGrant[]> {
    const { broker, group, clientId, lockTtlMs } = this.#options
    if (broker.capabilities.fencing) return broker.lockBatch(group, clientId, mqs, lockTtlMs, epochs)
    return mqs.map((mq) => ({ mq, granted: true, epoch: 0, predecessor: 'none', carefulUntil: 0 }))
  }

  async #add(grants: readonly (LockGrant & { granted: true })[]): Promise<void> {
    const { broker, group, clientId, lockTtlMs, from, subscriptionOf, emit } = this.#options
    for (const topic of new Set(grants.map(({ mq }) => mq.topic))) {
      await storeStartOffsets(broker, { group }, topic, from)
    }
    for (const { mq, epoch } of grants) {
      const queue = new AssignedQueue({
        broker,
        fence: { group, clientId, mq, epoch },
        done: await committedDone(broker, { group }, mq),
        subscription: subscriptionOf(mq.topic),
        lockTtlMs,
        onMoved: (offset, to) => emit({ kind: 'offset-moved', mq, from: offset, to }),
        onLost: (lost) => this.lost(lost, true),
      })
      this.#queues.set(queueKey(mq), queue)
    }
  }

  async #release(queues: readonly AssignedQueue[]): Promise<void> {
    const { broker, group, clientId } = this.#options
    for (const { mq } of queues) this.#queues.delete(queueKey(mq))
    if (queues.length === 0 || !broker.capabilities.fencing) return
    await broker.unlockBatch(
      group,
      clientId,
      queues.map(({ mq }) => mq),
    )
  }

  /** One after the other: a renewal that overtook an unlock would take the lock again, for nobody. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#locking.then(work)
    this.#locking = mine.catch(() => {})
    return mine
  }
}
