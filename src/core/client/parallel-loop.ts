import { LOCK_AGAIN_LATER_MS } from '../model/limits.ts'
import { sleep } from '../model/runtime.ts'
import type { BatchEnd } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import { ExpiredRuns } from './expired-runs.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import { fetchRedeliveries } from './redeliveries.ts'
import { tryBatch } from './try-batch.ts'
import { Turns } from './turns.ts'

/** What there is to wait for before more batches may start. */
type Pause = 'idle' | 'busy' | 'lock-untrusted' | 'redeliveries' | 'turn' | 'stopped'

/**
 * Consumes one queue with several handlers at once until it is dropped and the last of them has ended: the concurrent
 * service (RocketMQ `ConsumeMessageConcurrentlyService`), and the orderly one with several keys at a time. What may
 * run beside what is the process queue's to say.
 */
export class ParallelLoop {
  readonly #queue: OwnedQueue
  readonly #services: ConsumeServices
  readonly #turns: Turns
  readonly #expired: ExpiredRuns
  readonly #running = new Set<Promise<void>>()
  /** A slot that was waited for, and is ours now. */
  #grantedSlots = 0
  #waitsForSlot = false

  constructor(queue: OwnedQueue, services: ConsumeServices) {
    this.#queue = queue
    this.#services = services
    this.#turns = new Turns(services.broker.runtime)
    this.#expired = new ExpiredRuns(queue, services)
  }

  async run(): Promise<void> {
    const queue = this.#queue
    const endWatch = this.#expired.watch()
    try {
      while (!queue.isDropped) {
        const pause = this.#fill()
        // What is not used now may be of use to another queue.
        this.#giveSlots()
        await this.#pause(pause)
      }
      await Promise.all(this.#running)
    } finally {
      endWatch()
      this.#giveSlots()
    }
  }

  /** Starts what may start. */
  #fill(): Pause {
    const { processQueue } = this.#queue
    const { quota, batch: size, runsPerQueue } = this.#services
    while (!this.#queue.isDropped) {
      if (!this.#queue.isTrusted) return 'lock-untrusted'
      if (this.#queue.redeliveryPending || processQueue.needsRedeliveries) return 'redeliveries'
      if (!processQueue.hasWaiting) return this.#running.size === 0 ? 'idle' : 'busy'
      if (this.#running.size >= runsPerQueue || !this.#takeSlot()) return 'busy'
      const allowed = quota.take(size)
      const batch = allowed === 0 ? [] : processQueue.takeMessages(allowed)
      quota.giveBack(allowed - batch.length)
      if (batch.length === 0) {
        this.#services.slots.give()
        return 'stopped'
      }
      this.#start(batch)
      if (this.#turns.isDue) return 'turn'
    }
    return 'stopped'
  }

  #start(batch: Batch): void {
    const end = tryBatch(this.#queue, this.#services, batch)
    if (!(end instanceof Promise)) {
      this.#ended(batch, end)
      return
    }
    const run = end.then(
      (ended) => this.#ended(batch, ended),
      (error) => {
        this.#services.slots.give()
        this.#services.fail(error)
      },
    )
    const running = run.finally(() => {
      this.#running.delete(running)
      this.#queue.arrived.raise()
    })
    this.#running.add(running)
  }

  #ended(batch: Batch, end: BatchEnd): void {
    this.#services.slots.give()
    if (end.kind === 'suspended') void this.#resumeAfter(batch, end.afterMs)
    else if (end.kind !== 'passed') this.#services.progressed()
  }

  async #resumeAfter(batch: Batch, afterMs: number): Promise<void> {
    await sleep(this.#services.broker.runtime, afterMs, this.#queue.stopping)
    if (this.#queue.isDropped) return
    this.#queue.processQueue.resume(batch)
    this.#queue.arrived.raise()
  }

  #takeSlot(): boolean {
    if (this.#grantedSlots > 0) {
      this.#grantedSlots--
      return true
    }
    if (this.#services.slots.take()) return true
    if (this.#waitsForSlot) return false
    this.#waitsForSlot = true
    this.#services.slots.wait(() => {
      this.#waitsForSlot = false
      this.#grantedSlots++
      // The loop may be over by now: then nobody else would pass it on.
      if (this.#queue.isDropped) this.#giveSlots()
      else this.#queue.arrived.raise()
    })
    return false
  }

  #giveSlots(): void {
    for (; this.#grantedSlots > 0; this.#grantedSlots--) this.#services.slots.give()
  }

  async #pause(pause: Pause): Promise<void> {
    const { stopping, arrived } = this.#queue
    switch (pause) {
      case 'redeliveries':
        return fetchRedeliveries(this.#queue, this.#services)
      case 'turn':
        return this.#turns.due()
      case 'lock-untrusted':
        return void (await Promise.race([
          arrived.wait(stopping),
          sleep(this.#services.broker.runtime, LOCK_AGAIN_LATER_MS, stopping),
        ]))
      case 'idle':
      case 'stopped':
        this.#services.progressed()
        return this.#queue.isDropped ? undefined : arrived.wait(stopping)
      case 'busy':
        return arrived.wait(stopping)
    }
  }
}
