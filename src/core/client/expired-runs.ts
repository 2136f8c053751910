import { sleep } from '../model/runtime.ts'
import type { ConsumeServices } from './consume-services.ts'
import { journalEnd } from './journal.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import { isTransient } from './pull-loop.ts'
import { expiredDelayMs } from './settlement.ts'

/** RocketMQ looks once in a whole timeout, which lets a run have two of them. */
const LOOKS_PER_TIMEOUT = 15

/**
 * Runs that take longer than the consume timeout (RocketMQ `ProcessQueue.cleanExpiredMsg`): their messages are sent
 * back and done with here. The handler is not interrupted, keeps its slot, and its answer counts no more.
 */
export class ExpiredRuns {
  readonly #queue: OwnedQueue
  readonly #services: ConsumeServices

  constructor(queue: OwnedQueue, services: ConsumeServices) {
    this.#queue = queue
    this.#services = services
  }

  /** Looks from now on. Returns what ends it. */
  watch(): () => void {
    const stop = new AbortController()
    if (this.#isWatched) void this.#look(stop.signal)
    return () => stop.abort()
  }

  get #isWatched(): boolean {
    return Number.isFinite(this.#services.consumeTimeoutMs)
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { broker, consumeTimeoutMs, fail } = this.#services
    for (;;) {
      await sleep(broker.runtime, consumeTimeoutMs / LOOKS_PER_TIMEOUT, signal)
      if (signal.aborted) return
      const since = broker.runtime.monotonic() - consumeTimeoutMs
      for (const [batch, startedAt] of [...this.#queue.startedAt]) {
        // Answered while an earlier one was sent back.
        if (startedAt > since || !this.#queue.startedAt.has(batch)) continue
        try {
          await this.#expire(batch)
        } catch (error) {
          if (!isTransient(error)) fail(error)
          this.#undo(batch, startedAt)
        }
      }
    }
  }

  /** It could not be sent back: its handler's answer counts again, or, when that came meanwhile, it runs again. */
  #undo(batch: Batch, startedAt: number): void {
    if (this.#queue.expired.delete(batch)) {
      this.#queue.startedAt.set(batch, startedAt)
      return
    }
    const { processQueue, arrived } = this.#queue
    this.#services.quota.giveBack(processQueue.makeMessageToConsumeAgain(batch, ({ attempts }) => attempts))
    processQueue.resume(batch)
    arrived.raise()
  }

  async #expire(batch: Batch): Promise<void> {
    const { broker, counters, consumeTimeoutMs, policy } = this.#services
    const attempts = (batch[0]?.attempts ?? 0) + 1
    const delayMs = expiredDelayMs(attempts, policy)
    const lastError = `it ran longer than ${consumeTimeoutMs} ms`
    // Before the wait: an answer in between must not settle it a second time.
    this.#queue.startedAt.delete(batch)
    this.#queue.expired.add(batch)
    if (policy.messageModel === 'clustering') {
      const failures = batch.map(({ message }) => ({ message, attempts, lastError, delayMs }))
      const isStored = await broker.sendBack(this.#queue.fence, failures)
      if (!isStored) {
        this.#services.quota.giveBack(batch.length)
        return this.#services.lockLost(this.#queue, true)
      }
    }
    const settled = { batch, attempts, error: lastError, isStored: true }
    journalEnd(this.#queue, this.#services, settled, { kind: 'send-back', delayMs })
    counters.failed++
    counters.sentBack += batch.length
    this.#services.quota.giveBack(batch.length)
    const passed = this.#queue.processQueue.commit(batch)
    if (passed.lane === 'live') this.#services.offsets.update(this.#queue.position, passed.nextOffset)
    for (const { message } of batch) {
      this.#services.emit({ kind: 'timed-out', message, afterMs: consumeTimeoutMs })
    }
  }
}
