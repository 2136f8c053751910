import type Database from 'better-sqlite3'

/** A message that comes later; columns as in its message table. `properties` holds its id as UNIQ_KEY. */
export interface NewDelayedMessage {
  /** Wall clock, milliseconds since the epoch. */
  readonly dueAt: number
  /** `queue.id` of the queue that it goes to. */
  readonly queueRow: number
  readonly born: number
  readonly key: string | null
  readonly tags: string | null
  readonly keys: string | null
  readonly properties: string
  readonly body: Buffer
}

/** A row of `delayed_message`. */
export interface DelayedMessageRow extends NewDelayedMessage {
  readonly id: number
}

export interface DueMessage {
  readonly id: number
  readonly bodyBytes: number
}

/** The table `delayed_message`. Starts no transactions. */
export class DelayedMessages {
  readonly #insert: Database.Statement<[NewDelayedMessage & { readonly id: number | null }]>
  readonly #lastId: Database.Statement<[], number>
  readonly #place: Database.Statement<[number], Pick<DelayedMessageRow, 'dueAt' | 'queueRow'>>
  readonly #due: Database.Statement<[number, number], DueMessage>
  readonly #byId: Database.Statement<[number], DelayedMessageRow>
  readonly #remove: Database.Statement<[number]>
  readonly #firstDue: Database.Statement<[], number | null>
  readonly #count: Database.Statement<[number], number>

  constructor(db: Database.Database) {
    this.#insert = db.prepare(
      `insert into delayed_message (id, due_at, queue_id, born, key, tags, keys, properties, body)
       values (@id, @dueAt, @queueRow, @born, @key, @tags, @keys, @properties, @body)`,
    )
    this.#lastId = db
      .prepare<[], number>(`select seq from sqlite_sequence where name = 'delayed_message'`)
      .pluck()
    this.#place = db.prepare(`select due_at as dueAt, queue_id as queueRow from delayed_message where id = ?`)
    this.#due = db.prepare(
      `select id, length(body) as bodyBytes from delayed_message where due_at <= ? order by due_at, id limit ?`,
    )
    this.#byId = db.prepare(
      `select id, due_at as dueAt, queue_id as queueRow, born, key, tags, keys, properties, body
       from delayed_message where id = ?`,
    )
    this.#remove = db.prepare(`delete from delayed_message where id = ?`)
    this.#firstDue = db.prepare<[], number | null>(`select min(due_at) from delayed_message`).pluck()
    this.#count = db
      .prepare<[number], number>(`select count(*) from delayed_message where queue_id = ?`)
      .pluck()
  }

  /** Answers its id, the next one unless it is given. Inside a write job. */
  insert(message: NewDelayedMessage, id: number | null = null): number {
    return Number(this.#insert.run({ ...message, id }).lastInsertRowid)
  }

  /** The id that the next row gets: an id was never another row's before. Inside a write job. */
  nextId(): number {
    return (this.#lastId.get() ?? 0) + 1
  }

  /** When the message of that id is due, and where it goes; `undefined` when it is not here, or no longer. */
  place(id: number): Pick<DelayedMessageRow, 'dueAt' | 'queueRow'> | undefined {
    return this.#place.get(id)
  }

  /** Up to `limit` messages that are due at `now`, in the order in which they are. Their bodies are not read. */
  due(now: number, limit: number): DueMessage[] {
    return this.#due.all(now, limit)
  }

  byId(id: number): DelayedMessageRow | undefined {
    return this.#byId.get(id)
  }

  remove(id: number): void {
    this.#remove.run(id)
  }

  /** When the next one is due. */
  firstDue(): number | undefined {
    return this.#firstDue.get() ?? undefined
  }

  /** How many are to come into a queue. */
  count(queueRow: number): number {
    return this.#count.get(queueRow) ?? 0
  }
}
