import Database from 'better-sqlite3'

export interface QueueState {
  readonly row: number
  readonly topic: string
  readonly queueId: number
  readonly min: number
  readonly max: number
}

export interface OffsetState {
  readonly group: string
  readonly row: number
  readonly committed: number
}

export interface LockState {
  readonly group: string
  readonly row: number
  readonly epoch: number
  readonly clientId: string | null
  readonly ttlMs: number
  readonly expiresMono: number
  readonly lostBy: string | null
  readonly pid: number | null
  readonly startTime: string | null
}

export interface AttemptState {
  readonly group: string
  readonly row: number
  readonly offset: number
  readonly replay: number
  readonly attempts: number
}

export interface DeadLetterState {
  readonly id: number
  readonly group: string
  readonly row: number
  readonly offset: number
  readonly body: string
  readonly attempts: number
  readonly state: 'dead' | 'parked' | 'replayed'
  readonly replays: number
  readonly isSettled: 0 | 1
}

export interface StoreState {
  readonly queues: readonly QueueState[]
  readonly offsets: readonly OffsetState[]
  readonly locks: readonly LockState[]
  readonly attempts: readonly AttemptState[]
  readonly deadLetters: readonly DeadLetterState[]
}

/** What is committed in the file, seen from outside of every process. */
export class StoreView {
  readonly db: Database.Database
  readonly #version: Database.Statement<[], number>
  readonly #read: () => StoreState
  #seen = -1

  constructor(path: string) {
    const db = new Database(path)
    db.pragma('synchronous = off')
    this.db = db
    this.#version = db.prepare<[], number>('pragma data_version').pluck()
    this.#read = prepareRead(db)
  }

  /** Whether anything was committed since the last time. */
  isChanged(): boolean {
    const version = this.#version.get() ?? 0
    if (version === this.#seen) return false
    this.#seen = version
    return true
  }

  /** After a change through this connection, which it does not notice by itself. */
  touch(): void {
    this.#seen = -1
  }

  read(): StoreState {
    return this.#read()
  }

  /** Offsets and bodies from an offset on. */
  messages(row: number, from: number): readonly { readonly offset: number; readonly body: string }[] {
    return this.db
      .prepare<[number], { offset: number; body: Buffer }>(
        `select offset, body from message_${row} where offset >= ? order by offset`,
      )
      .all(from)
      .map(({ offset, body }) => ({ offset, body: body.toString() }))
  }

  /** What retention does: the messages below `offset` are gone, the queue's end stays where it was. */
  trim(row: number, offset: number): void {
    this.db.transaction(() => {
      this.db.prepare(`delete from message_${row} where offset < ?`).run(offset)
      this.db
        .prepare('update queue set min_offset = ? where id = ? and min_offset < ?')
        .run(offset, row, offset)
    })()
    this.touch()
  }

  close(): void {
    this.db.close()
  }
}

function prepareRead(db: Database.Database): () => StoreState {
  const queues = db.prepare<[], QueueState>(
    `select q.id as row, t.name as topic, q.queue_id as queueId, q.min_offset as min, q.max_offset as max
     from queue q join topic t on t.id = q.topic_id order by q.id`,
  )
  const offsets = db.prepare<[], OffsetState>(
    `select g.name as "group", o.queue_id as row, o.committed_offset as committed
     from consumer_offset o join consumer_group g on g.id = o.group_id`,
  )
  const locks = db.prepare<[], LockState>(
    `select g.name as "group", l.queue_id as row, l.epoch, l.client_id as clientId, l.ttl_ms as ttlMs,
       l.expires_mono as expiresMono, l.lost_by as lostBy, c.pid, c.start_time as startTime
     from queue_lock l join consumer_group g on g.id = l.group_id left join client c on c.client_id = l.client_id`,
  )
  const attempts = db.prepare<[], AttemptState>(
    `select g.name as "group", a.queue_id as row, a.offset, a.replay, a.attempts
     from attempt a join consumer_group g on g.id = a.group_id`,
  )
  const deadLetters = db.prepare<[], DeadLetterState>(
    `select d.id, g.name as "group", d.queue_row as row, d.offset, cast(d.body as text) as body, d.attempts, d.state,
       d.replays, d.settled_at is not null as isSettled
     from dead_letter d join consumer_group g on g.id = d.group_id order by d.id`,
  )
  return db.transaction(() => ({
    queues: queues.all(),
    offsets: offsets.all(),
    locks: locks.all(),
    attempts: attempts.all(),
    deadLetters: deadLetters.all(),
  }))
}
