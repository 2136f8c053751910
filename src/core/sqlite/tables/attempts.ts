import type Database from 'better-sqlite3'

/** A row of `attempt`. */
export interface AttemptRow {
  readonly offset: number
  /** 0: the live message; n: its n-th replay. */
  readonly replay: number
  readonly attempts: number
  /** 1: started and not settled; a crash leaves it so. */
  readonly running: number
  readonly firstFailedAt: number | null
  readonly lastError: string | null
  readonly nextTryAt: number | null
}

const COLUMNS = `offset, replay, attempts, running, first_failed_at as firstFailedAt, last_error as lastError,
  next_try_at as nextTryAt`
const AT = 'group_id = ? and queue_id = ? and offset = ? and replay = ?'

/** The table `attempt`. Starts no transactions; every method is for one group and queue row. */
export class Attempts {
  readonly #at: Database.Statement<[number, number, number, number], AttemptRow>
  readonly #live: Database.Statement<[number, number, number, number], [number, number]>
  readonly #firstFailed: Database.Statement<[number, number, number], AttemptRow>
  readonly #start: Database.Statement<[number, number, number, number]>
  readonly #startLive: Database.Statement<[number, number, string]>
  readonly #fail: Database.Statement<Record<string, number | string | null>>
  readonly #release: Database.Statement<[number, number, number, number]>
  readonly #dropUncounted: Database.Statement<[number, number, number, number]>
  readonly #drop: Database.Statement<[number, number, number, number]>
  readonly #dropRange: Database.Statement<[number, number, number, number]>
  readonly #dropBelow: Database.Statement<[number, number, number]>

  constructor(db: Database.Database) {
    this.#at = db.prepare(`select ${COLUMNS} from attempt where ${AT}`)
    this.#live = db
      .prepare<[number, number, number, number], [number, number]>(
        `select offset, attempts from attempt
         where group_id = ? and queue_id = ? and offset >= ? and offset < ? and replay = 0`,
      )
      .raw()
    this.#firstFailed = db.prepare(
      `select ${COLUMNS} from attempt
       where group_id = ? and queue_id = ? and offset >= ? and replay = 0 and first_failed_at is not null
       order by offset limit 1`,
    )
    this.#start = db.prepare(
      `insert into attempt (group_id, queue_id, offset, replay, attempts, running) values (?, ?, ?, ?, 1, 1)
       on conflict do update set attempts = attempts + 1, running = 1`,
    )
    // `where true` tells SQLite that `on conflict` belongs to the insert and not to a join.
    this.#startLive = db.prepare(
      `insert into attempt (group_id, queue_id, offset, replay, attempts, running)
       select ?, ?, value, 0, 1, 1 from json_each(?) where true
       on conflict do update set attempts = attempts + 1, running = 1`,
    )
    this.#fail = db.prepare(
      `insert into attempt
       (group_id, queue_id, offset, replay, attempts, running, first_failed_at, last_error, next_try_at)
       values (@groupId, @queueRow, @offset, @replay, @attempts, 0, @now, @lastError, @nextTryAt)
       on conflict do update set attempts = excluded.attempts, running = 0,
         first_failed_at = coalesce(first_failed_at, excluded.first_failed_at),
         last_error = excluded.last_error, next_try_at = excluded.next_try_at`,
    )
    this.#release = db.prepare(
      `update attempt set attempts = attempts - 1, running = 0 where ${AT} and running = 1`,
    )
    this.#dropUncounted = db.prepare(`delete from attempt where ${AT} and attempts <= 0`)
    this.#drop = db.prepare(`delete from attempt where ${AT}`)
    this.#dropRange = db.prepare(
      `delete from attempt where group_id = ? and queue_id = ? and offset >= ? and offset < ? and replay = 0`,
    )
    this.#dropBelow = db.prepare(
      `delete from attempt where group_id = ? and queue_id = ? and offset < ? and replay = 0`,
    )
  }

  at(groupId: number, queueRow: number, offset: number, replay: number): AttemptRow | undefined {
    return this.#at.get(groupId, queueRow, offset, replay)
  }

  /** Attempts of live messages of `from` (included) to `to` (excluded), by offset. */
  live(groupId: number, queueRow: number, from: number, to: number): Map<number, number> {
    return new Map(this.#live.all(groupId, queueRow, from, to))
  }

  /** The first live message from `from` on that has failed. */
  firstFailed(groupId: number, queueRow: number, from: number): AttemptRow | undefined {
    return this.#firstFailed.get(groupId, queueRow, from)
  }

  /** One more. A row that a dead owner left running was counted when it started. */
  start(groupId: number, queueRow: number, offset: number, replay: number): void {
    this.#start.run(groupId, queueRow, offset, replay)
  }

  /** One more for live messages: a batch takes two thirds of the time of as many single ones. */
  startLive(groupId: number, queueRow: number, offsets: readonly number[]): void {
    this.#startLive.run(groupId, queueRow, JSON.stringify(offsets))
  }

  fail(
    groupId: number,
    queueRow: number,
    failure: Omit<AttemptRow, 'running' | 'firstFailedAt'>,
    now: number,
  ): void {
    this.#fail.run({ groupId, queueRow, ...failure, now })
  }

  /** One less, for a start that does not count. */
  release(groupId: number, queueRow: number, offset: number, replay: number): void {
    this.#release.run(groupId, queueRow, offset, replay)
    this.#dropUncounted.run(groupId, queueRow, offset, replay)
  }

  drop(groupId: number, queueRow: number, offset: number, replay: number): void {
    this.#drop.run(groupId, queueRow, offset, replay)
  }

  /** Those of live messages of `from` (included) to `to` (excluded). */
  dropRange(groupId: number, queueRow: number, from: number, to: number): void {
    this.#dropRange.run(groupId, queueRow, from, to)
  }

  /** Those of live messages below `offset`; replayed ones lie below by nature and stay. */
  dropBelow(groupId: number, queueRow: number, offset: number): void {
    this.#dropBelow.run(groupId, queueRow, offset)
  }
}
