import type { PullRequest, PullResult, PullStatus } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { PULL_BYTES_MAX, STORE_POLL_MS } from '../model/limits.ts'
import type { MessageExt } from '../model/message.ts'
import type { PullWaiters } from './pull-waiters.ts'
import { ALL, type PartialFilter, type RowFilter, RowFilters } from './row-filters.ts'
import type { Store } from './store.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { RawMessage } from './tables/raw-message.ts'

/** Offsets that a filter looks at in one pull (RocketMQ: 800 entries). Their bodies are not read. */
const FILTER_SCAN_MAX = 4096
/** Weight of the newest pull in the average body size. */
const SIZE_WEIGHT = 0.3

/** Attempts that a group has stored for offsets `from` to before `to`; offsets without any are absent. */
export type StoredAttempts = (
  group: string,
  queue: QueueRow,
  from: number,
  to: number,
) => ReadonlyMap<number, number>

/** Up to where a group may read a queue in order: see `Barriers.limit`. */
export type BarrierLimit = (group: string, queue: QueueRow) => number

interface Found {
  readonly rows: readonly RawMessage[]
  readonly nextOffset: number
}

/** Reads messages, and holds requests that find none. The answers are RocketMQ's (`PullMessageProcessor`). */
export class Puller {
  readonly #store: Store
  readonly #queues: Queues
  readonly #messages: Messages
  readonly #waiters: PullWaiters
  readonly #storedAttempts: StoredAttempts
  readonly #barrierLimit: BarrierLimit
  readonly #filters = new RowFilters()
  /** Average body size by `queue.id`: how many rows fit into PULL_BYTES_MAX is decided before they are read. */
  readonly #bodySizes = new Map<number, number>()

  constructor(
    store: Store,
    parts: {
      queues: Queues
      messages: Messages
      waiters: PullWaiters
      storedAttempts: StoredAttempts
      barrierLimit: BarrierLimit
    },
  ) {
    this.#store = store
    this.#queues = parts.queues
    this.#messages = parts.messages
    this.#waiters = parts.waiters
    this.#storedAttempts = parts.storedAttempts
    this.#barrierLimit = parts.barrierLimit
  }

  async pull(request: PullRequest): Promise<PullResult> {
    const { mq, offset, waitMs, signal, subscription } = request
    refuseOdd('offset', offset, Number.MIN_SAFE_INTEGER)
    refuseOdd('maxMessages', request.maxMessages, 1)
    const filter = this.#filters.known(subscription) ?? (await this.#filters.load(subscription))
    // Answered with nothing, a consumer that outlives its broker would ask for ever without a pause.
    if (this.#waiters.isClosed) throw closed(mq.topic)
    const { runtime } = this.#store.host
    const deadline = runtime.monotonic() + waitMs
    for (;;) {
      const queue = this.#queues.resolve(mq)
      const limit = this.#limit(request, queue)
      const result = this.#look(request, queue, filter, limit)
      if (result.status !== 'NO_NEW_MSG') return result
      const rest = deadline - runtime.monotonic()
      if (rest <= 0) return result
      if (limit <= offset && offset < queue.maxOffset) {
        // Messages are there, and nobody is woken when others are done with what lies before them.
        await this.#waiters.hold(queue.id, Number.POSITIVE_INFINITY, Math.min(rest, STORE_POLL_MS), signal)
        if (signal?.aborted) return result
      } else if (!(await this.#waiters.hold(queue.id, offset, rest, signal))) return result
      // Between its end and this turn the broker may have been closed.
      if (this.#waiters.isClosed) return result
    }
  }

  #limit({ group, ordered }: PullRequest, queue: QueueRow): number {
    return ordered && group !== undefined ? this.#barrierLimit(group, queue) : Number.POSITIVE_INFINITY
  }

  #look(request: PullRequest, queue: QueueRow, filter: RowFilter, limit: number): PullResult {
    const { offset } = request
    const { minOffset, maxOffset } = queue
    if (maxOffset === 0) return answer(offset === 0 ? 'NO_NEW_MSG' : 'OFFSET_ILLEGAL', [], 0, queue)
    if (offset < minOffset) return answer('OFFSET_ILLEGAL', [], minOffset, queue)
    if (offset > maxOffset) return answer('OFFSET_ILLEGAL', [], maxOffset, queue)
    if (offset === maxOffset || offset >= limit) return answer('NO_NEW_MSG', [], offset, queue)
    // Never beyond the end as it was when the limit was looked up: a barrier may have been raised there since.
    const readable = { ...queue, maxOffset: Math.min(maxOffset, limit) }
    const { rows, nextOffset } =
      filter === ALL ? this.#read(request, readable) : this.#readFiltered(request, readable, filter)
    const status = rows.length === 0 ? 'NO_MATCHED_MSG' : 'FOUND'
    return answer(status, this.#toMessages(rows, request, queue), nextOffset, queue)
  }

  #read({ offset, maxMessages }: PullRequest, queue: QueueRow): Found {
    const limit = Math.min(this.#rowsMax(queue, offset, maxMessages), queue.maxOffset - offset)
    const rows = this.#cut(queue, beforeEnd(this.#messages.range(queue.id, offset, limit), queue.maxOffset))
    const last = rows.at(-1)
    // No row: the offsets up to the end were given up by retention since the queue's row was read.
    return { rows, nextOffset: last === undefined ? queue.maxOffset : last[0] + 1 }
  }

  #readFiltered({ offset, maxMessages }: PullRequest, queue: QueueRow, filter: PartialFilter): Found {
    const end = Math.min(offset + FILTER_SCAN_MAX, queue.maxOffset)
    const limit = this.#rowsMax(queue, offset, maxMessages)
    const matching =
      'tags' in filter
        ? this.#messages.taggedRange(queue.id, offset, end, filter.tags, limit)
        : this.#messages.conditionRange(queue.id, offset, end, filter.condition, limit)
    const rows = this.#cut(queue, matching)
    const last = rows.at(-1)
    const isWhole = rows.length === matching.length && matching.length < limit
    return { rows, nextOffset: last === undefined || isWhole ? end : last[0] + 1 }
  }

  #rowsMax({ id }: QueueRow, offset: number, maxMessages: number): number {
    const size = this.#bodySizes.get(id) ?? this.#messages.bodySize(id, offset) ?? 0
    return Math.max(1, Math.min(maxMessages, Math.floor(PULL_BYTES_MAX / Math.max(1, size))))
  }

  /** What fits into PULL_BYTES_MAX, at least one; and learns the size of bodies. */
  #cut({ id }: QueueRow, rows: readonly RawMessage[]): readonly RawMessage[] {
    let bytes = 0
    let fitting = 0
    for (const row of rows) {
      bytes += row[7].length
      if (bytes <= PULL_BYTES_MAX || fitting === 0) fitting++
    }
    if (rows.length > 0) {
      const average = bytes / rows.length
      const before = this.#bodySizes.get(id) ?? average
      // Upwards at once: reading too much costs memory, reading too little only a second pull.
      this.#bodySizes.set(id, Math.max(average, before + SIZE_WEIGHT * (average - before)))
    }
    return fitting === rows.length ? rows : rows.slice(0, fitting)
  }

  #toMessages(rows: readonly RawMessage[], { group, mq }: PullRequest, queue: QueueRow): MessageExt[] {
    const first = rows[0]
    const last = rows.at(-1)
    if (first === undefined || last === undefined) return []
    const attempts =
      group === undefined ? undefined : this.#storedAttempts(group, queue, first[0], last[0] + 1)
    return rows.map((row) =>
      this.#messages.toMessageExt(row, mq.topic, mq.queueId, queue.id, attempts?.get(row[0]) ?? 0),
    )
  }
}

function beforeEnd(rows: readonly RawMessage[], end: number): readonly RawMessage[] {
  const last = rows.at(-1)
  return last === undefined || last[0] < end ? rows : rows.filter(([offset]) => offset < end)
}

function answer(
  status: PullStatus,
  messages: readonly MessageExt[],
  nextOffset: number,
  { minOffset, maxOffset }: QueueRow,
): PullResult {
  return { status, messages, nextOffset, minOffset, maxOffset }
}

function closed(topic: string): RmqError {
  return new RmqError('INTERRUPTED', `the broker was closed while ${topic} was being pulled`, {
    hint: 'stop consumers before their broker',
  })
}

function refuseOdd(what: string, value: number, min: number): void {
  if (Number.isSafeInteger(value) && value >= min) return
  throw new RmqError('INVALID_ARGUMENT', `${what} of a pull: ${value} is not allowed`, {
    why: `it is a whole number${min === 1 ? ' from 1 on' : ''}`,
    hint: 'take it from the nextOffset of the pull before',
  })
}
