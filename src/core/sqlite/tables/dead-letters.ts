import type Database from 'better-sqlite3'
import type { DeadLetterState } from '../../model/dead-letter.ts'

/** A row of `dead_letter`. The message's columns are as in its message table, `born` instead of its age. */
export interface DeadLetterRow {
  readonly id: number
  readonly groupId: number
  readonly topic: string
  /** `queue.id` of the origin. */
  readonly queueRow: number
  readonly queueId: number
  readonly offset: number
  readonly msgId: string
  readonly key: string | null
  readonly tags: string | null
  readonly keys: string | null
  readonly properties: string | null
  readonly body: Buffer
  readonly born: number
  readonly stored: number
  readonly attempts: number
  readonly lastError: string | null
  readonly firstFailedAt: number | null
  readonly deadLetteredAt: number
  readonly state: DeadLetterState
  readonly replays: number
  readonly replayedAt: number | null
  readonly settledAt: number | null
  readonly resetAt: number | null
}

/** How it died. */
export interface Death {
  readonly attempts: number
  readonly lastError: string | null
  readonly firstFailedAt: number
  readonly now: number
  /** `parked`: it followed a dead one of its key. */
  readonly state: 'dead' | 'parked'
}

export type NewDeadLetter = Omit<
  DeadLetterRow,
  | 'id'
  | 'deadLetteredAt'
  | 'state'
  | 'replays'
  | 'replayedAt'
  | 'settledAt'
  | 'resetAt'
  | 'firstFailedAt'
  | 'attempts'
  | 'lastError'
> &
  Death

const COLUMNS = `id, group_id as groupId, topic, queue_row as queueRow, queue_id as queueId, offset, msg_id as msgId,
  key, tags, keys, properties, body, born, stored, attempts, last_error as lastError,
  first_failed_at as firstFailedAt, dead_lettered_at as deadLetteredAt, state, replays,
  replayed_at as replayedAt, settled_at as settledAt, reset_at as resetAt`

const DIES_AGAIN = `state = @state, attempts = @attempts, last_error = @lastError, first_failed_at = @firstFailedAt,
  dead_lettered_at = @now, settled_at = null, reset_at = null`

/** The table `dead_letter`. Starts no transactions. Selections by filter are in `dead-letter-query.ts`. */
export class DeadLetters {
  readonly #byId: Database.Statement<[number], DeadLetterRow>
  readonly #put: Database.Statement<[NewDeadLetter]>
  readonly #dieAgain: Database.Statement<Record<string, number | string | null>>
  readonly #lane: Database.Statement<[number, number, number], DeadLetterRow>
  readonly #laneCount: Database.Statement<[number, number], number>
  readonly #settle: Database.Statement<[number, number, number, number], { offset: number; replays: number }>
  readonly #claim: Database.Statement<[number, number | null, number, number]>
  readonly #remove: Database.Statement<[number, number], number>
  readonly #isBehind: Database.Statement<[number, number, string, number], number>
  readonly #parkBehind: Database.Statement<
    [number, number, number, string, number],
    { offset: number; replays: number }
  >

  constructor(db: Database.Database) {
    this.#byId = db.prepare(`select ${COLUMNS} from dead_letter where id = ?`)
    // A live message has an entry already when a reset brought its round again: the entry stays one.
    this.#put = db.prepare(
      `insert into dead_letter (group_id, topic, queue_row, queue_id, offset, msg_id, key, tags, keys, properties,
         body, born, stored, attempts, last_error, first_failed_at, dead_lettered_at, state)
       values (@groupId, @topic, @queueRow, @queueId, @offset, @msgId, @key, @tags, @keys, @properties,
         @body, @born, @stored, @attempts, @lastError, @firstFailedAt, @now, @state)
       on conflict (group_id, queue_row, offset) do update set ${DIES_AGAIN}`,
    )
    this.#dieAgain = db.prepare(
      `update dead_letter set ${DIES_AGAIN}
       where id = @id and group_id = @groupId and state = 'replayed' and settled_at is null`,
    )
    this.#lane = db.prepare(
      `select ${COLUMNS} from dead_letter
       where group_id = ? and queue_row = ? and state = 'replayed' and settled_at is null
       order by offset limit ?`,
    )
    this.#laneCount = db
      .prepare<[number, number], number>(
        `select count(*) from dead_letter
         where group_id = ? and queue_row = ? and state = 'replayed' and settled_at is null`,
      )
      .pluck()
    this.#settle = db.prepare(
      `update dead_letter set settled_at = ?
       where id = ? and group_id = ? and queue_row = ? and state = 'replayed' and settled_at is null
       returning offset, replays`,
    )
    this.#claim = db.prepare(
      `update dead_letter set state = 'replayed', replays = replays + 1, replayed_at = ?, settled_at = ?
       where id = ? and replays = ? and state in ('dead', 'parked')`,
    )
    this.#remove = db
      .prepare<[number, number], number>(
        `delete from dead_letter
         where id = ? and replays = ? and (state in ('dead', 'parked') or settled_at is not null)
         returning group_id`,
      )
      .pluck()
    this.#isBehind = db
      .prepare<[number, number, string, number], number>(
        `select 1 from dead_letter
         where group_id = ? and queue_row = ? and key = ? and offset < ?
           and state in ('dead', 'parked') and reset_at is null limit 1`,
      )
      .pluck()
    this.#parkBehind = db.prepare(
      `update dead_letter set state = 'parked', dead_lettered_at = ?
       where group_id = ? and queue_row = ? and key = ? and offset > ?
         and state = 'replayed' and settled_at is null
       returning offset, replays`,
    )
  }

  byId(id: number): DeadLetterRow | undefined {
    return this.#byId.get(id)
  }

  put(letter: NewDeadLetter): void {
    this.#put.run(letter)
  }

  /** A message of the lane failed to its end again: back to its entry, which keeps its replays. */
  dieAgain(id: number, groupId: number, death: Death): void {
    this.#dieAgain.run({ id, groupId, ...death })
  }

  /** The redelivery lane of a queue, by offset. */
  lane(groupId: number, queueRow: number, limit: number): DeadLetterRow[] {
    return this.#lane.all(groupId, queueRow, limit)
  }

  laneCount(groupId: number, queueRow: number): number {
    return this.#laneCount.get(groupId, queueRow) ?? 0
  }

  /** Whether a dead or parked letter of the key lies before the offset. */
  isBehind(groupId: number, queueRow: number, key: string, offset: number): boolean {
    return this.#isBehind.get(groupId, queueRow, key, offset) === 1
  }

  /** Parks what waits in the lane behind the offset; answers which replays those were. */
  parkBehind(
    groupId: number,
    queueRow: number,
    key: string,
    offset: number,
    now: number,
  ): { offset: number; replays: number }[] {
    return this.#parkBehind.all(now, groupId, queueRow, key, offset)
  }

  /** Takes an entry out of the lane; `undefined` when it was not in it. */
  settle(
    id: number,
    groupId: number,
    queueRow: number,
    now: number,
  ): { offset: number; replays: number } | undefined {
    return this.#settle.get(now, id, groupId, queueRow)
  }

  /** Of several that claim the same replay one gets it. `settledAt` is null for one that goes to the lane. */
  claim(id: number, seenReplays: number, now: number, settledAt: number | null): boolean {
    return this.#claim.run(now, settledAt, id, seenReplays).changes === 1
  }

  /**
   * Deletes an entry that is as it was seen; answers its group, `undefined` when nothing was deleted: it is gone, was
   * replayed since, or waits in the lane.
   */
  remove(id: number, seenReplays: number): number | undefined {
    return this.#remove.get(id, seenReplays)
  }
}
