import type Database from 'better-sqlite3'
import type { HandlerProcess } from '../../model/lock.ts'

/** How a freed lock's owner lost it. */
export type LostBy = 'dead' | 'expired' | 'forced'

/** How a lock comes to a new owner: there was none, it was given back, or it was lost. */
export type Predecessor = 'none' | 'released' | LostBy

/** A row of `queue_lock`. */
export interface QueueLockRow {
  readonly groupId: number
  /** `queue.id`. */
  readonly queueRow: number
  /** Only grows; the row outlives its owners for that. */
  readonly epoch: number
  /** `null`: free. */
  readonly clientId: string | null
  readonly ttlMs: number
  readonly acquiredAt: number
  readonly renewedAt: number
  readonly expiresMono: number
  readonly carefulUntil: number
  readonly lostBy: LostBy | null
  /** How the lock came to its owner. */
  readonly predecessor: Predecessor
}

/** An owned lock, with the names of its group and queue. */
export interface NamedLockRow extends QueueLockRow {
  readonly clientId: string
  readonly group: string
  readonly topic: string
  readonly queueId: number
}

/** A new owner, or the old one anew. */
export interface LockGrantRow {
  readonly groupId: number
  readonly queueRow: number
  readonly clientId: string
  readonly epoch: number
  readonly ttlMs: number
  readonly now: number
  readonly expiresMono: number
  readonly carefulUntil: number
  readonly predecessor: Predecessor
}

interface LockFilterParams {
  readonly group: string | null
  readonly topic: string | null
  readonly queueId: number | null
}

const COLUMNS = `l.group_id as groupId, l.queue_id as queueRow, l.epoch, l.client_id as clientId, l.ttl_ms as ttlMs,
  l.acquired_at as acquiredAt, l.renewed_at as renewedAt, l.expires_mono as expiresMono,
  l.careful_until as carefulUntil, l.lost_by as lostBy, l.predecessor`

/** The tables `queue_lock` and `lock_handler`. Starts no transactions. */
export class QueueLocks {
  readonly #byKey: Database.Statement<[number, number], QueueLockRow>
  readonly #owned: Database.Statement<[LockFilterParams], NamedLockRow>
  readonly #ownedBy: Database.Statement<[string], QueueLockRow>
  readonly #grant: Database.Statement<[LockGrantRow]>
  readonly #renew: Database.Statement<[number, number, number, number, number]>
  readonly #giveBack: Database.Statement<[number, number, string]>
  readonly #takeAway: Database.Statement<[number, LostBy, number, number, number]>
  readonly #reassign: Database.Statement<[string, string]>
  readonly #holds: Database.Statement<[number, number, string, number], number>
  readonly #setHandler: Database.Statement<[number, number, number, number, string]>
  readonly #handlers: Database.Statement<[number, number], HandlerProcess>
  readonly #clearHandlers: Database.Statement<[number, number]>

  constructor(db: Database.Database) {
    this.#byKey = db.prepare(`select ${COLUMNS} from queue_lock l where l.group_id = ? and l.queue_id = ?`)
    this.#owned = db.prepare(
      `select ${COLUMNS}, g.name as "group", t.name as topic, q.queue_id as queueId
       from queue_lock l
       join consumer_group g on g.id = l.group_id
       join queue q on q.id = l.queue_id
       join topic t on t.id = q.topic_id
       where l.client_id is not null
         and (@group is null or g.name = @group)
         and (@topic is null or t.name = @topic)
         and (@queueId is null or q.queue_id = @queueId)
       order by g.name, t.name, q.queue_id`,
    )
    this.#ownedBy = db.prepare(`select ${COLUMNS} from queue_lock l where l.client_id = ?`)
    this.#grant = db.prepare(
      `insert or replace into queue_lock
       (group_id, queue_id, epoch, client_id, ttl_ms, acquired_at, renewed_at, expires_mono, careful_until,
        predecessor)
       values (@groupId, @queueRow, @epoch, @clientId, @ttlMs, @now, @now, @expiresMono, @carefulUntil,
        @predecessor)`,
    )
    this.#renew = db.prepare(
      `update queue_lock set ttl_ms = ?, renewed_at = ?, expires_mono = ? where group_id = ? and queue_id = ?`,
    )
    this.#giveBack = db.prepare(
      `update queue_lock set client_id = null, lost_by = null
       where group_id = ? and queue_id = ? and client_id = ?`,
    )
    this.#takeAway = db.prepare(
      `update queue_lock set client_id = null, epoch = epoch + ?, lost_by = ?, careful_until = ?
       where group_id = ? and queue_id = ?`,
    )
    this.#reassign = db.prepare(`update queue_lock set client_id = ? where client_id = ?`)
    this.#holds = db
      .prepare<[number, number, string, number], number>(
        `select 1 from queue_lock where group_id = ? and queue_id = ? and client_id = ? and epoch = ?`,
      )
      .pluck()
    this.#setHandler = db.prepare(
      `insert or replace into lock_handler (group_id, queue_id, slot, pid, start_time) values (?, ?, ?, ?, ?)`,
    )
    this.#handlers = db.prepare(
      `select pid, start_time as startTime from lock_handler where group_id = ? and queue_id = ? order by slot`,
    )
    this.#clearHandlers = db.prepare(`delete from lock_handler where group_id = ? and queue_id = ?`)
  }

  byKey(groupId: number, queueRow: number): QueueLockRow | undefined {
    return this.#byKey.get(groupId, queueRow)
  }

  /** Locks that have an owner, by group, topic and queue id. */
  owned(filter: { group?: string; topic?: string; queueId?: number }): NamedLockRow[] {
    const { group = null, topic = null, queueId = null } = filter
    return this.#owned.all({ group, topic, queueId })
  }

  ownedBy(clientId: string): QueueLockRow[] {
    return this.#ownedBy.all(clientId)
  }

  grant(row: LockGrantRow): void {
    this.#clearHandlers.run(row.groupId, row.queueRow)
    this.#grant.run(row)
  }

  renew(groupId: number, queueRow: number, ttlMs: number, now: number, expiresMono: number): void {
    this.#renew.run(ttlMs, now, expiresMono, groupId, queueRow)
  }

  /** The owner gives it back; false when it was not its. */
  giveBack(groupId: number, queueRow: number, clientId: string): boolean {
    const isFreed = this.#giveBack.run(groupId, queueRow, clientId).changes === 1
    if (isFreed) this.#clearHandlers.run(groupId, queueRow)
    return isFreed
  }

  /** The owner loses it. `epochs` is added to the epoch: 1 where a living owner must be shut out. */
  takeAway(row: QueueLockRow, epochs: 0 | 1, lostBy: LostBy, carefulUntil: number): void {
    this.#clearHandlers.run(row.groupId, row.queueRow)
    this.#takeAway.run(epochs, lostBy, carefulUntil, row.groupId, row.queueRow)
  }

  /** All locks of one client id go by another one from now on. */
  reassign(from: string, to: string): void {
    this.#reassign.run(to, from)
  }

  /** The fence: whether this client owns the lock in this epoch. */
  holds(groupId: number, queueRow: number, clientId: string, epoch: number): boolean {
    return this.#holds.get(groupId, queueRow, clientId, epoch) === 1
  }

  /** A handler of the lock's owner runs in that process; what was in the slot before is forgotten. */
  setHandler(groupId: number, queueRow: number, slot: number, { pid, startTime }: HandlerProcess): void {
    this.#setHandler.run(groupId, queueRow, slot, pid, startTime)
  }

  /** Processes in which handlers of the lock's owner may run, by slot. */
  handlers(groupId: number, queueRow: number): HandlerProcess[] {
    return this.#handlers.all(groupId, queueRow)
  }
}
