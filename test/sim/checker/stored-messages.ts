import { hold } from '../broken-invariant.ts'
import type { QueueState, StoreView } from '../store-view.ts'
import type { QueueModel, SimMessage } from './model.ts'

interface Sent {
  readonly message: SimMessage
  isAcknowledged: boolean
  stored: { readonly queue: QueueModel; readonly offset: number } | undefined
}

/** Invariants 1 and 5: what was sent, what was acknowledged, and what lies in the queues. */
export class StoredMessages {
  readonly queues = new Map<number, QueueModel>()
  readonly #view: StoreView
  readonly #sent = new Map<number, Sent>()
  readonly #queueOfKey = new Map<string, QueueModel>()
  /** The last place among a producer's messages, by producer, key and queue. */
  readonly #lastSeq = new Map<string, number>()

  constructor(view: StoreView) {
    this.#view = view
  }

  sending(message: SimMessage): void {
    this.#sent.set(message.id, { message, isAcknowledged: false, stored: undefined })
  }

  acknowledged(message: SimMessage, topic: string, queueId: number, offset: number): void {
    const sent = this.#sent.get(message.id)
    const at = sent?.stored
    const where = at ? `at ${at.queue.topic}:${at.queue.queueId} ${at.offset}` : 'nowhere'
    const isThere = at?.queue.topic === topic && at.queue.queueId === queueId && at.offset === offset
    hold(isThere, 5, () => `message ${message.id} acknowledged at ${topic}:${queueId} ${offset} is ${where}`)
    if (sent) sent.isAcknowledged = true
  }

  observe(states: readonly QueueState[]): void {
    for (const state of states) this.#observeQueue(state)
  }

  #observeQueue(state: QueueState): void {
    let queue = this.queues.get(state.row)
    if (!queue) {
      const { row, topic, queueId, min } = state
      queue = { row, topic, queueId, min, messages: [] }
      this.queues.set(row, queue)
    }
    const known = queue.messages.length
    const name = `${queue.topic}:${queue.queueId}`
    hold(state.max >= known, 1, () => `${name}: the max offset fell from ${known} to ${state.max}`)
    if (state.max === known && state.min === queue.min) return
    queue.min = state.min
    const rows = this.#view.messages(state.row, state.min)
    hold(
      rows.length === state.max - state.min && rows.every(({ offset }, i) => offset === state.min + i),
      1,
      () => `${name}: offsets ${rows.map(({ offset }) => offset)} between ${state.min} and ${state.max}`,
    )
    for (const { offset, body } of rows.slice(Math.max(0, known - state.min)))
      this.#stored(queue, offset, body)
    for (const { offset, body } of rows.slice(0, Math.max(0, known - state.min))) {
      const message = queue.messages[offset]
      hold(body === JSON.stringify(message), 1, () => `${name}: the message at ${offset} became ${body}`)
    }
  }

  #stored(queue: QueueModel, offset: number, body: string): void {
    const message = JSON.parse(body) as SimMessage
    const sent = this.#sent.get(message.id)
    hold(sent, 5, () => `message ${message.id} was stored but never sent`)
    const { stored } = sent
    hold(!stored, 5, () => `message ${message.id} is stored at ${stored?.offset} and once more at ${offset}`)
    sent.stored = { queue, offset }
    queue.messages[offset] = message
    if (message.key === undefined) return
    const route = `${queue.topic} ${message.key}`
    const before = this.#queueOfKey.get(route) ?? queue
    hold(before === queue, 5, () => `key ${route} went to queues ${before.queueId} and ${queue.queueId}`)
    this.#queueOfKey.set(route, queue)
    const series = `${message.producer} ${route}`
    const last = this.#lastSeq.get(series) ?? -1
    hold(message.seq > last, 1, () => `${series}: message ${message.seq} lies behind ${last}`)
    this.#lastSeq.set(series, message.seq)
  }
}
