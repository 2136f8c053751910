import type { Runtime } from '../model/runtime.ts'
import type { Queues } from './tables/queues.ts'

interface Waiter {
  /** Smallest `maxOffset` that ends the wait. */
  readonly from: number
  readonly end: (arrived: boolean) => void
  readonly fail: (error: unknown) => void
}

/** Pulls that found nothing and wait for messages (RocketMQ `PullRequestHoldService`). */
export class PullWaiters {
  readonly #runtime: Runtime
  readonly #queues: Queues
  readonly #onCount: (waiting: number) => void
  readonly #byQueue = new Map<number, Set<Waiter>>()
  #count = 0
  #closed = false

  /** `onCount` hears how many wait after each change: nobody has to watch the store for none. */
  constructor(runtime: Runtime, queues: Queues, onCount: (waiting: number) => void) {
    this.#runtime = runtime
    this.#queues = queues
    this.#onCount = onCount
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Resolves true when the queue's max offset passes `offset`; false at the time limit, an abort or the close. */
  hold(queueRow: number, offset: number, waitMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#closed || signal?.aborted === true) {
        resolve(false)
        return
      }
      const finish = () => {
        cancelTimer()
        signal?.removeEventListener('abort', giveUp)
        this.#remove(queueRow, waiter)
      }
      const end = (arrived: boolean) => {
        finish()
        resolve(arrived)
      }
      const fail = (error: unknown) => {
        finish()
        reject(error)
      }
      const giveUp = () => end(false)
      const waiter: Waiter = { from: offset + 1, end, fail }
      const cancelTimer = this.#runtime.setTimer(waitMs, giveUp)
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#add(queueRow, waiter)
    })
  }

  /** Ends the waits whose messages have come: one query for all. */
  check(): void {
    if (this.#count === 0) return
    for (const [queueRow, maxOffset] of this.#queues.maxOffsets([...this.#byQueue.keys()])) {
      for (const waiter of [...(this.#byQueue.get(queueRow) ?? [])]) {
        if (maxOffset >= waiter.from) waiter.end(true)
      }
    }
  }

  /** Ends all waits with an error. */
  fail(error: unknown): void {
    for (const waiter of this.#all()) waiter.fail(error)
  }

  /** Ends all waits as if their time were up, and takes no more. */
  close(): void {
    this.#closed = true
    for (const waiter of this.#all()) waiter.end(false)
  }

  #all(): Waiter[] {
    return [...this.#byQueue.values()].flatMap((waiters) => [...waiters])
  }

  #add(queueRow: number, waiter: Waiter): void {
    const waiters = this.#byQueue.get(queueRow)
    if (waiters === undefined) this.#byQueue.set(queueRow, new Set([waiter]))
    else waiters.add(waiter)
    this.#onCount(++this.#count)
  }

  #remove(queueRow: number, waiter: Waiter): void {
    const waiters = this.#byQueue.get(queueRow)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#byQueue.delete(queueRow)
    this.#onCount(--this.#count)
  }
}
