import { queueOf } from '../model/hash.ts'
import { DELAYED_BATCH_BYTES_MAX, DELAYED_BATCH_MAX, DELAYED_LOOK_MS } from '../model/limits.ts'
import type { Store } from './store.ts'
import type { BarrierTable } from './tables/barriers.ts'
import type { DelayedMessageRow, DelayedMessages } from './tables/delayed-messages.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { Topics } from './tables/topics.ts'

/** Several processes wake for the same message: who comes a little later finds it done, without a write. */
const SPREAD_MS = 5

export interface DeliveryParts {
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly delayed: DelayedMessages
  readonly barriers: BarrierTable
}

/**
 * Moves delayed messages into their queues when they are due (RocketMQ `ScheduleMessageService`, `TimerMessageStore`).
 * Whichever process is alive does it. The move is one transaction: a message is in one place, whoever dies when.
 */
export class DelayedDelivery {
  readonly #store: Store
  readonly #parts: DeliveryParts
  readonly #onError: (error: unknown) => void
  #isWatching = false
  /** Of the next message, as it was after the last change. */
  #firstDue: number | undefined
  #cancelTimer: (() => void) | undefined
  #delivering: Promise<void> | undefined

  /** `onError` hears why a delivery failed. It is tried again, here and by other processes. */
  constructor(store: Store, parts: DeliveryParts, onError: (error: unknown) => void) {
    this.#store = store
    this.#parts = parts
    this.#onError = onError
  }

  get isWatching(): boolean {
    return this.#isWatching
  }

  /** While watched it hears of changes, and delivers without being asked. */
  set isWatching(isWatching: boolean) {
    this.#isWatching = isWatching
    if (!isWatching) this.#stopTimer()
  }

  /** Something was committed, so the next message may be another one: one indexed read, however many there are. */
  changed(): void {
    if (!this.#isWatching) return
    const firstDue = this.#parts.delayed.firstDue()
    if (firstDue === this.#firstDue && this.#cancelTimer !== undefined) return
    this.#firstDue = firstDue
    this.#wait()
  }

  /**
   * Delivers what is due, for who looks at the queues now: one indexed read where there is nothing. What it fails at
   * does not keep anyone from what is there.
   */
  async deliverDue(): Promise<void> {
    if (this.#delivering !== undefined || this.#isDue()) await this.#deliver()
  }

  /** Never rejects. */
  #deliver(): Promise<void> {
    this.#delivering ??= this.#deliverAll()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#delivering = undefined
      })
    return this.#delivering
  }

  #wait(): void {
    this.#stopTimer()
    if (this.#firstDue === undefined) return
    const { runtime } = this.#store.host
    const left = Math.max(0, Math.ceil(this.#firstDue - runtime.now()))
    // Not longer, since the wall clock may be set; and late by a moment rather than early.
    if (left > DELAYED_LOOK_MS) this.#setTimer(DELAYED_LOOK_MS)
    else this.#setTimer(left + runtime.random() * SPREAD_MS)
  }

  #setTimer(ms: number): void {
    const { runtime } = this.#store.host
    this.#cancelTimer = runtime.setTimer(ms, () => {
      this.#cancelTimer = undefined
      if (this.#firstDue === undefined || this.#firstDue > runtime.now()) this.#wait()
      else this.#deliver()
    })
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  async #deliverAll(): Promise<void> {
    // Looked at before each write: who comes second finds nothing to do, and does not queue up for the lock.
    while (this.#isDue()) await this.#store.write(() => this.#move(), { wake: true })
    this.changed()
  }

  #isDue(): boolean {
    const firstDue = this.#parts.delayed.firstDue()
    return firstDue !== undefined && firstDue <= this.#store.host.runtime.now()
  }

  #failed(error: unknown): void {
    this.#onError(error)
    this.#stopTimer()
    if (this.#isWatching) this.#setTimer(DELAYED_LOOK_MS)
  }

  #move(): void {
    const { delayed, queues, messages } = this.#parts
    const now = Math.floor(this.#store.host.runtime.now())
    let bytesLeft = DELAYED_BATCH_BYTES_MAX
    for (const { id, bodyBytes } of delayed.due(now, DELAYED_BATCH_MAX)) {
      if (bytesLeft <= 0) return
      bytesLeft -= bodyBytes
      const message = delayed.byId(id) as DelayedMessageRow
      const { born, key, tags, keys, properties, body } = message
      const queueRow = this.#target(message)
      const offset = queues.allocate(queueRow, 1)
      messages.insert(queueRow, [offset, now, now - born, key, tags, keys, properties, body])
      delayed.remove(id)
    }
  }

  /** Where it was to go; the key's queue of now, when the topic has another number of queues since. */
  #target({ queueRow, key }: DelayedMessageRow): number {
    const { queues, topics, barriers } = this.#parts
    const queue = queues.byId(queueRow) as QueueRow
    const topic = topics.byId(queue.topicId)
    const isChanged = topic !== undefined && barriers.newest(topic.id) !== undefined
    if (!isChanged) return queueRow
    if (key === null && queue.queueId < topic.queues) return queueRow
    const queueId =
      key === null ? queue.queueId % topic.queues : queueOf(topic.hash, key, topic.queues).queueId
    return queues.byTopic(topic.id).find((each) => each.queueId === queueId)?.id ?? queueRow
  }
}
