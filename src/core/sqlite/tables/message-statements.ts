import type Database from 'better-sqlite3'
import type { RawMessage } from './raw-message.ts'

/** SQL function by which a row's filter is asked. */
export const FILTER_FUNCTION = 'rmq_filter'

const COLUMNS = 'offset, stored, age, key, tags, keys, properties, body'
/** Of a message that has only a key and a body. */
const PLAIN_COLUMNS = 'offset, stored, age, key, body'

type Insert = Database.Statement<unknown[]>
type Range = Database.Statement<[from: number, limit: number], RawMessage>
type ConditionRange = Database.Statement<[from: number, to: number, limit: number], RawMessage>
type TaggedRange = Database.Statement<[from: number, to: number, tags: string, limit: number], RawMessage>

/** Statements of one message table, each prepared when first needed: a command that sends once needs one of them. */
export class MessageStatements {
  readonly #db: Database.Database
  readonly #table: string
  readonly #inserts = new Map<number, Insert>()
  readonly #plainInserts = new Map<number, Insert>()
  #range: Range | undefined
  #taggedRange: TaggedRange | undefined
  #conditionRange: ConditionRange | undefined
  #bodySize: Database.Statement<[number], number> | undefined
  #storedAt: Database.Statement<[number], number> | undefined
  #byUniqKey: Database.Statement<[string], RawMessage> | undefined

  constructor(db: Database.Database, queueRow: number) {
    this.#db = db
    this.#table = `message_${queueRow}`
  }

  insert(rows: number, isPlain: boolean): Insert {
    const inserts = isPlain ? this.#plainInserts : this.#inserts
    let insert = inserts.get(rows)
    if (insert === undefined) {
      const columns = isPlain ? PLAIN_COLUMNS : COLUMNS
      const row = `(${columns.replaceAll(/\w+/g, '?')})`
      insert = this.#db.prepare(
        `insert into ${this.#table} (${columns}) values ${Array(rows).fill(row).join(', ')}`,
      )
      inserts.set(rows, insert)
    }
    return insert
  }

  get range(): Range {
    this.#range ??= this.#db
      .prepare<[number, number], RawMessage>(
        `select ${COLUMNS} from ${this.#table} where offset >= ? order by offset limit ?`,
      )
      .raw()
    return this.#range
  }

  get taggedRange(): TaggedRange {
    this.#taggedRange ??= this.#db
      .prepare<[number, number, string, number], RawMessage>(
        `select ${COLUMNS} from ${this.#table} where offset >= ? and offset < ?
         and tags in (select value from json_each(?)) order by offset limit ?`,
      )
      .raw()
    return this.#taggedRange
  }

  /** SQLite reads the rest of a row, the body above all, only when the function takes the row. */
  get conditionRange(): ConditionRange {
    this.#conditionRange ??= this.#db
      .prepare<[number, number, number], RawMessage>(
        `select ${COLUMNS} from ${this.#table} where offset >= ? and offset < ?
         and ${FILTER_FUNCTION}(key, tags, keys, properties) order by offset limit ?`,
      )
      .raw()
    return this.#conditionRange
  }

  get bodySize(): Database.Statement<[from: number], number> {
    this.#bodySize ??= this.#db
      .prepare<[number], number>(
        `select length(body) from ${this.#table} where offset >= ? order by offset limit 1`,
      )
      .pluck()
    return this.#bodySize
  }

  get storedAt(): Database.Statement<[offset: number], number> {
    this.#storedAt ??= this.#db
      .prepare<[number], number>(`select stored from ${this.#table} where offset = ?`)
      .pluck()
    return this.#storedAt
  }

  get byUniqKey(): Database.Statement<[msgId: string], RawMessage> {
    this.#byUniqKey ??= this.#db
      .prepare<[string], RawMessage>(
        `select ${COLUMNS} from ${this.#table} where properties ->> '$.UNIQ_KEY' = ? order by offset limit 1`,
      )
      .raw()
    return this.#byUniqKey
  }
}
