import { type DelayedBatch, insertDelayed } from './delayed-batch.ts'
import { type MessageBatch, valuesPerMessage } from './message-batch.ts'
import { queueRowGone } from './not-found.ts'
import { type ChosenQueue, checkRoutes } from './route-check.ts'
import type { SendParts } from './send.ts'
import type { Store } from './store.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { Messages } from './tables/messages.ts'
import type { Queues } from './tables/queues.ts'
import type { Topics } from './tables/topics.ts'

/** Messages of one send for one queue. */
export interface PlacedBatch extends ChosenQueue {
  /** `queue.id`. */
  readonly queueRow: number
  readonly batch: MessageBatch
  /** Its messages come later: they take no offsets yet. */
  readonly delayed?: DelayedBatch
}

interface Send {
  readonly batches: readonly PlacedBatch[]
  readonly born: number
  /** First offset of each batch, set by the write; a delayed one has none. */
  readonly firstOffsets: number[]
  readonly resolve: (firstOffsets: readonly number[]) => void
  readonly reject: (error: unknown) => void
}

/** What the sends of one write have for one queue: a piece is a batch of one of them. */
interface QueuePieces {
  count: number
  readonly pieces: { readonly send: Send; readonly index: number; readonly batch: MessageBatch }[]
}

/**
 * Sends that wait at the same time become one write: each queue takes its offsets once, and rows of different sends
 * share an insert. With 512 sends of one message in flight that is about twice as fast as a write each.
 */
export class JoinedSends {
  readonly #store: Store
  readonly #topics: Topics
  readonly #queues: Queues
  readonly #messages: Messages
  readonly #delayed: DelayedMessages
  /** Sends of a write that has not begun yet. */
  #joinable: Send[] | undefined

  constructor(store: Store, parts: SendParts) {
    this.#store = store
    this.#topics = parts.topics
    this.#queues = parts.queues
    this.#messages = parts.messages
    this.#delayed = parts.delayed
  }

  /** Stores the batches, all or none, and answers the first offset of each. */
  store(batches: readonly PlacedBatch[], born: number): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      const send: Send = { batches, born, firstOffsets: [], resolve, reject }
      if (this.#joinable !== undefined) this.#joinable.push(send)
      else this.#write([send])
    })
  }

  #write(sends: Send[]): void {
    this.#joinable = sends
    const run = () => {
      if (this.#joinable === sends) this.#joinable = undefined
      this.#insert(sends)
    }
    this.#store.write(run, { durable: true, wake: true }).then(
      () => {
        for (const send of sends) send.resolve(send.firstOffsets)
      },
      (error: unknown) => this.#failed(sends, error),
    )
  }

  /** One send at fault, whose queue is not there or not its key's any more, must not fail the others: each is tried by itself. */
  #failed(sends: readonly Send[], error: unknown): void {
    if (this.#joinable === sends) this.#joinable = undefined
    const [only] = sends
    if (only !== undefined && sends.length === 1) {
      only.reject(error)
      return
    }
    for (const send of sends) {
      const apart = () => this.#insert([send])
      this.#store
        .write(apart, { durable: true, wake: true })
        .then(() => send.resolve(send.firstOffsets), send.reject)
    }
  }

  #insert(sends: readonly Send[]): void {
    checkRoutes(
      this.#topics,
      sends.flatMap(({ batches }) => batches),
    )
    const stored = Math.floor(this.#store.host.runtime.now())
    for (const { batches, born } of sends) {
      for (const { queueRow, batch, delayed } of batches) {
        if (!delayed) continue
        if (this.#queues.byId(queueRow) === undefined) throw queueRowGone(queueRow)
        insertDelayed(this.#delayed, { ...delayed, queueRow, batch, born, stored })
      }
    }
    for (const [queueRow, { count, pieces }] of byQueue(sends)) {
      let next = this.#queues.allocate(queueRow, count)
      const plain = new Rows(true)
      const full = new Rows(false)
      for (const { send, index, batch } of pieces) {
        send.firstOffsets[index] = next
        const rows = batch.isPlain ? plain : full
        rows.add(batch, next, stored, stored - send.born)
        next += batch.count
      }
      this.#messages.append(queueRow, plain.values, true)
      this.#messages.append(queueRow, full.values, false)
    }
  }
}

function byQueue(sends: readonly Send[]): Map<number, QueuePieces> {
  const queues = new Map<number, QueuePieces>()
  for (const send of sends) {
    for (let index = 0; index < send.batches.length; index++) {
      const { queueRow, batch, delayed } = send.batches[index] as PlacedBatch
      if (delayed) continue
      const queue = queues.get(queueRow)
      if (queue === undefined) {
        queues.set(queueRow, { count: batch.count, pieces: [{ send, index, batch }] })
      } else {
        queue.count += batch.count
        queue.pieces.push({ send, index, batch })
      }
    }
  }
  return queues
}

/** Values of rows to insert, with the blanks of their batches filled in. */
class Rows {
  readonly #width: number
  #values: unknown[] = []
  #isOwn = false

  constructor(isPlain: boolean) {
    this.#width = valuesPerMessage(isPlain)
  }

  get values(): unknown[] {
    return this.#values
  }

  /** The values of the first batch are used as they are: a bulk send copies nothing. */
  add({ values }: MessageBatch, firstOffset: number, stored: number, age: number): void {
    for (let i = 0, offset = firstOffset; i < values.length; i += this.#width, offset++) {
      values[i] = offset
      values[i + 1] = stored
      values[i + 2] = age
    }
    if (this.#values.length === 0) {
      this.#values = values
      return
    }
    if (!this.#isOwn) this.#values = [...this.#values]
    this.#isOwn = true
    for (const value of values) this.#values.push(value)
  }
}
