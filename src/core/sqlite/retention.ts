import { RETENTION_INTERVAL_MS, RETENTION_STEP_MESSAGES } from '../model/limits.ts'
import type { Store } from './store.ts'
import type { BarrierTable } from './tables/barriers.ts'
import type { AgingQueue, OldMessages } from './tables/old-messages.ts'

/** Pages of 4 KiB that are given back after a step: about what its messages took. */
const PAGES_PER_STEP = 64

/**
 * Removes messages older than their topic's retention time, if every group is done with them: RocketMQ removes them
 * unread. Whichever process is alive does it, a little at a time; several at once find less to do.
 */
export class Retention {
  readonly #store: Store
  readonly #messages: OldMessages
  readonly #barriers: BarrierTable
  #nextAt = 0
  #isRunning = false

  constructor(store: Store, parts: { messages: OldMessages; barriers: BarrierTable }) {
    this.#store = store
    this.#messages = parts.messages
    this.#barriers = parts.barriers
  }

  /** Called every STORE_POLL_MS; does something now and then, and goes on at the next call while there is more. */
  async tick(): Promise<void> {
    const { runtime } = this.#store.host
    if (this.#isRunning || runtime.monotonic() < this.#nextAt) return
    this.#isRunning = true
    try {
      const isMore = await this.#step()
      this.#nextAt = isMore ? 0 : runtime.monotonic() + RETENTION_INTERVAL_MS
    } catch (error) {
      this.#nextAt = runtime.monotonic() + RETENTION_INTERVAL_MS
      throw error
    } finally {
      this.#isRunning = false
    }
  }

  /** Looks without a write first: mostly there is nothing. True when a queue may have more. */
  async #step(): Promise<boolean> {
    const full = this.#messages.queues().filter((queue) => this.#end(queue) > queue.minOffset)
    for (const { id } of full) {
      await this.#store.write(() => {
        // Looked at again where it is written: others remove messages, too, and offsets may have been set back.
        const queue = this.#messages.queue(id)
        if (queue === undefined) return
        const end = this.#end(queue)
        if (end <= queue.minOffset) return
        this.#messages.removeBelow(queue, end)
        this.#messages.giveBackPages(PAGES_PER_STEP)
        this.#barriers.removeOutlived(queue.topicId)
      })
    }
    return full.length > 0
  }

  /** Up to where the queue's messages may go in one step. */
  #end(queue: AgingQueue): number {
    const before = this.#store.host.runtime.now() - queue.retentionMs
    const old = this.#messages.endOfOld(queue, before, RETENTION_STEP_MESSAGES)
    return old === queue.minOffset ? old : Math.min(old, this.#messages.passed(queue))
  }
}
