import type Database from 'better-sqlite3'
import type { MessageExt, MessageOrigin } from '../../model/message.ts'
import { EMBEDDED_BROKER_NAME } from '../../model/message-queue.ts'
import {
  ORIGIN_PLACE,
  RECONSUME_TIME,
  RETRY_TOPIC,
  UNIQ_KEY,
  userProperties,
} from '../../model/properties.ts'
import type { FilterCondition } from '../../model/sql92/compile.ts'
import { valuesPerMessage } from '../message-batch.ts'
import { formatMessageId, messageIdPrefix } from '../message-id.ts'
import type { OriginPlace } from '../original.ts'
import { filterProperties } from './filter-properties.ts'
import { FILTER_FUNCTION, MessageStatements } from './message-statements.ts'
import type { RawMessage } from './raw-message.ts'

/**
 * Rows of one insert, largest first. Measured at 128 B against one row a statement: 1.25 times as fast with 25 rows,
 * 1.4 times when plain rows bind 5 values; more rows gain nothing.
 */
const ROWS_PER_INSERT = [25, 5, 1] as const

const NO_KEYS: readonly string[] = Object.freeze([])
const NO_PROPERTIES: Readonly<Record<string, string>> = Object.freeze({})

/** The message tables, one a queue. `queueRow` is `queue.id`. Starts no transactions. */
export class Messages {
  readonly #db: Database.Database
  readonly #storeId: number
  readonly #statements = new Map<number, MessageStatements>()
  readonly #prefixes = new Map<number, string>()
  /** What the filter function asks now: a statement takes values, no functions. */
  #condition: FilterCondition | undefined

  constructor(db: Database.Database, storeId: number) {
    this.#db = db
    this.#storeId = storeId
  }

  /** Stores a message at an offset that `Queues.allocate` gave. Inside a write job. */
  insert(queueRow: number, message: RawMessage): void {
    this.#of(queueRow).insert(1, false).run(message)
  }

  /** Stores messages laid out as in `MessageBatch`, at offsets that `Queues.allocate` gave. Inside a write job. */
  append(queueRow: number, values: unknown[], isPlain: boolean): void {
    let done = 0
    for (const rows of ROWS_PER_INSERT) {
      const size = rows * valuesPerMessage(isPlain)
      if (done + size > values.length) continue
      const insert = this.#of(queueRow).insert(rows, isPlain)
      for (; done + size <= values.length; done += size) {
        insert.run(size === values.length ? values : values.slice(done, done + size))
      }
    }
  }

  /** Up to `limit` messages from `from` on, by offset. */
  range(queueRow: number, from: number, limit: number): RawMessage[] {
    return this.#of(queueRow).range.all(from, limit)
  }

  /** Up to `limit` messages from `from` to before `to` that have one of these tags, by offset. */
  taggedRange(
    queueRow: number,
    from: number,
    to: number,
    tags: readonly string[],
    limit: number,
  ): RawMessage[] {
    return this.#of(queueRow).taggedRange.all(from, to, JSON.stringify(tags), limit)
  }

  /** Up to `limit` messages from `from` to before `to` for which the condition is true, by offset. */
  conditionRange(
    queueRow: number,
    from: number,
    to: number,
    condition: FilterCondition,
    limit: number,
  ): RawMessage[] {
    if (this.#condition === undefined) this.#defineFilter()
    this.#condition = condition
    return this.#of(queueRow).conditionRange.all(from, to, limit)
  }

  at(queueRow: number, offset: number): RawMessage | undefined {
    const raw = this.#of(queueRow).range.get(offset, 1)
    return raw !== undefined && raw[0] === offset ? raw : undefined
  }

  /** Body bytes of the first message from `from` on. */
  bodySize(queueRow: number, from: number): number | undefined {
    return this.#of(queueRow).bodySize.get(from)
  }

  /** Store time of the message at `offset`. */
  storedAt(queueRow: number, offset: number): number | undefined {
    return this.#of(queueRow).storedAt.get(offset)
  }

  /** A message that was moved here and kept its id; reads the whole queue. */
  byUniqKey(queueRow: number, msgId: string): RawMessage | undefined {
    return this.#of(queueRow).byUniqKey.get(msgId)
  }

  /** The id that a message at this place has by itself. */
  idAt(queueRow: number, offset: number): string {
    return formatMessageId(this.#prefix(queueRow), offset)
  }

  /** `reconsumeTimes` is what the group has counted; what the message brought with it (`RECONSUME_TIME`) is added. */
  toMessageExt(
    raw: RawMessage,
    topic: string,
    queueId: number,
    queueRow: number,
    reconsumeTimes = 0,
  ): MessageExt {
    const [offset, stored, age, key, tags, keys, json, body] = raw
    let msgId: string | undefined
    let properties = NO_PROPERTIES
    let times = reconsumeTimes
    let origin: MessageOrigin | undefined
    if (json !== null) {
      const all = JSON.parse(json) as Record<string, string>
      msgId = all[UNIQ_KEY]
      times += Number(all[RECONSUME_TIME] ?? 0)
      properties = userProperties(all)
      origin = originOf(all[RETRY_TOPIC], all[ORIGIN_PLACE])
    }
    return {
      msgId: msgId ?? this.idAt(queueRow, offset),
      topic,
      brokerName: EMBEDDED_BROKER_NAME,
      queueId,
      queueOffset: offset,
      key,
      keys: keys !== null ? (JSON.parse(keys) as string[]) : key !== null ? [key] : NO_KEYS,
      tags,
      properties,
      body,
      bornTimestamp: stored - age,
      storeTimestamp: stored,
      reconsumeTimes: times,
      ...(origin && { origin }),
    }
  }

  #defineFilter(): void {
    const matches = (...columns: Parameters<typeof filterProperties>) =>
      this.#condition?.(filterProperties(...columns)) === true ? 1 : 0
    this.#db.function(FILTER_FUNCTION, { directOnly: true, varargs: true }, matches)
  }

  #prefix(queueRow: number): string {
    let prefix = this.#prefixes.get(queueRow)
    if (prefix === undefined) {
      prefix = messageIdPrefix(this.#storeId, queueRow)
      this.#prefixes.set(queueRow, prefix)
    }
    return prefix
  }

  #of(queueRow: number): MessageStatements {
    let statements = this.#statements.get(queueRow)
    if (statements === undefined) {
      statements = new MessageStatements(this.#db, queueRow)
      this.#statements.set(queueRow, statements)
    }
    return statements
  }
}

function originOf(topic: string | undefined, place: string | undefined): MessageOrigin | undefined {
  if (topic === undefined || place === undefined) return undefined
  const { queueId, offset } = JSON.parse(place) as OriginPlace
  return { topic, queueId, queueOffset: offset }
}
