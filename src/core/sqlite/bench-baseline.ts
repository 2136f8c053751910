import Database from 'better-sqlite3'
import type { Message } from '../model/message.ts'
import type { Runtime } from '../model/runtime.ts'
import { retryBusy } from './busy-retry.ts'
import { SignalFile } from './host/signal-file.ts'
import { messageTableSql } from './schema.ts'
import type { RawMessage } from './tables/raw-message.ts'

/** Offsets are stored at most this much later than their messages were handled. */
const COMMIT_MS = 50
/** Rows of one read; 256 and more measure alike. */
const READ_ROWS = 1000
/** Reads without a wake-up, as often as rmq does. */
const POLL_MS = 50

export interface RawBaselineOptions {
  readonly path: string
  readonly durability: 'full' | 'normal'
  readonly queues: number
  readonly runtime: Runtime
}

/**
 * What better-sqlite3 does by itself with the same tables and pragmas, without a broker, clients, locks, ids or checks:
 * the measure that `rmq bench` compares with. It hands rows out as they are, so that it does no work that can be left out.
 */
export interface RawBaseline {
  /** Appends messages, message i to queue `queueIds[i]`, in transactions of `commitSize`. */
  send(messages: readonly Message[], queueIds: readonly number[], commitSize: number): void
  /** Reads all messages, queues in turns, and stores offsets under a lock's epoch every 50 ms. */
  consume(onRow: (queueId: number, row: RawMessage) => void): void
  /** Tells other processes that something was sent. */
  wake(): void
  /** Reads what comes, in whatever process it was sent. Returns a function that ends it. */
  follow(onRow: (queueId: number, row: RawMessage) => void): () => void
  close(): void
}

/** Opens the baseline's own file, and creates it when it is not there. */
export function rawBaseline(options: RawBaselineOptions): RawBaseline {
  const db = new Database(options.path, { timeout: 0 })
  db.pragma('auto_vacuum = incremental')
  retryBusy(options.runtime, options.path, () => db.pragma('journal_mode = wal'))
  db.pragma(`synchronous = ${options.durability}`)
  const transact = transactor(db, options)
  transact(() => createTables(db, options.queues))
  const reader = new BaselineReader(db, options, transact)
  const signal = new SignalFile(`${options.path}.signal`)
  return {
    send: sender(db, options, transact),
    consume: (onRow) => reader.consume(onRow),
    wake: () => signal.touch(),
    follow: (onRow) => {
      const read = () => reader.readNew(onRow)
      const stopWatching = signal.watch(read)
      const stopPolling = every(options.runtime, POLL_MS, read)
      return () => {
        stopPolling()
        stopWatching()
      }
    },
    close: () => {
      signal.close()
      db.close()
    },
  }
}

type Transact = (work: () => void) => void

/** Contention is waited out as rmq does it: SQLite's own way starves whoever meets a writer that waits for its disk. */
function transactor(db: Database.Database, { path, runtime }: RawBaselineOptions): Transact {
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  return (work) => {
    retryBusy(runtime, path, () => begin.run())
    work()
    commit.run()
  }
}

function every(runtime: Runtime, ms: number, fn: () => void): () => void {
  let cancel = () => {}
  const next = () => {
    cancel = runtime.setTimer(ms, () => {
      fn()
      next()
    })
  }
  next()
  return () => cancel()
}

function createTables(db: Database.Database, queues: number): void {
  if (db.prepare(`select 1 from sqlite_schema where name = 'queue'`).get() !== undefined) return
  db.exec(`create table queue (id integer primary key, max_offset integer not null) strict`)
  db.exec(`create table consumer_offset (
    queue_id integer primary key, epoch integer not null, committed_offset integer not null
  ) strict`)
  for (let queueId = 0; queueId < queues; queueId++) {
    db.prepare(`insert into queue values (?, 0)`).run(queueId)
    db.prepare(`insert into consumer_offset values (?, 1, 0)`).run(queueId)
    db.exec(messageTableSql(queueId))
  }
}

function sender(
  db: Database.Database,
  { queues, runtime }: RawBaselineOptions,
  transact: Transact,
): RawBaseline['send'] {
  const inserts = Array.from({ length: queues }, (_, queueId) =>
    db.prepare<unknown[]>(`insert into message_${queueId} values (?, ?, ?, ?, ?, ?, ?, ?)`),
  )
  const readMax = db.prepare<[], number>(`select max_offset from queue order by id`).pluck()
  const writeMax = db.prepare<[number, number]>(`update queue set max_offset = ? where id = ?`)
  const append = (messages: readonly Message[], queueIds: readonly number[], from: number, to: number) => {
    const before = readMax.all()
    const next = [...before]
    const now = runtime.now()
    for (let i = from; i < to; i++) {
      const { key, body } = messages[i] as Message
      const queueId = queueIds[i] as number
      const offset = next[queueId] as number
      next[queueId] = offset + 1
      inserts[queueId]?.run(offset, now, 0, key ?? null, null, null, null, body)
    }
    for (const [queueId, max] of next.entries()) if (max !== before[queueId]) writeMax.run(max, queueId)
  }
  return (messages, queueIds, commitSize) => {
    for (let from = 0; from < messages.length; from += commitSize) {
      transact(() => append(messages, queueIds, from, Math.min(from + commitSize, messages.length)))
    }
  }
}

class BaselineReader {
  readonly #reads: readonly Database.Statement<[number, number], RawMessage>[]
  readonly #commit: (offsets: readonly number[]) => void
  readonly #runtime: Runtime
  #next: number[]
  #committedAt: number

  constructor(db: Database.Database, { queues, runtime }: RawBaselineOptions, transact: Transact) {
    this.#reads = Array.from({ length: queues }, (_, queueId) =>
      db
        .prepare<[number, number], RawMessage>(
          `select offset, stored, age, key, tags, keys, properties, body from message_${queueId}
           where offset >= ? order by offset limit ?`,
        )
        .raw(),
    )
    const update = db.prepare<[number, number, number]>(
      `update consumer_offset set committed_offset = ? where queue_id = ? and epoch = ?`,
    )
    this.#commit = (offsets) =>
      transact(() => {
        for (const [queueId, offset] of offsets.entries()) update.run(offset, queueId, 1)
      })
    this.#runtime = runtime
    this.#next = new Array<number>(queues).fill(0)
    this.#committedAt = runtime.monotonic()
  }

  consume(onRow: (queueId: number, row: RawMessage) => void): void {
    this.#next = this.#next.map(() => 0)
    this.readNew(onRow)
    this.#commit(this.#next)
  }

  /** Reads on until no queue has anything new. */
  readNew(onRow: (queueId: number, row: RawMessage) => void): void {
    for (let found = true; found; ) {
      found = false
      for (const [queueId, read] of this.#reads.entries()) {
        const rows = read.all(this.#next[queueId] as number, READ_ROWS)
        if (rows.length === 0) continue
        found = true
        for (const row of rows) onRow(queueId, row)
        this.#next[queueId] = (this.#next[queueId] as number) + rows.length
        this.#commitIfDue()
      }
    }
  }

  #commitIfDue(): void {
    const now = this.#runtime.monotonic()
    if (now - this.#committedAt < COMMIT_MS) return
    this.#commit(this.#next)
    this.#committedAt = now
  }
}
