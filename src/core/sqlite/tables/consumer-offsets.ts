import type Database from 'better-sqlite3'
import type { Done, DoneRange } from '../../model/done-ranges.ts'

/** A row of `consumer_offset`, with the number of its queue. */
export interface ConsumerOffsetRow {
  readonly queueId: number
  readonly committedOffset: number
  readonly ahead: readonly DoneRange[]
}

interface RawOffset {
  readonly queueId: number
  readonly committedOffset: number
  /** JSON; null: none. */
  readonly ahead: string | null
}

/** The table `consumer_offset`. Starts no transactions. */
export class ConsumerOffsets {
  readonly #byTopic: Database.Statement<[number, string], RawOffset>
  readonly #byKey: Database.Statement<[number, number], Omit<RawOffset, 'queueId'>>
  readonly #advance: Database.Statement<[number, number, number, number, string, number]>
  readonly #put: Database.Statement<[number, number, string | null, number, number]>
  readonly #start: Database.Statement<[number, number, number, number]>

  constructor(db: Database.Database) {
    this.#byTopic = db.prepare(
      `select q.queue_id as queueId, o.committed_offset as committedOffset, o.ahead
       from topic t
       join queue q on q.topic_id = t.id
       join consumer_offset o on o.queue_id = q.id and o.group_id = ?
       where t.name = ? order by q.queue_id`,
    )
    this.#byKey = db.prepare(
      `select committed_offset as committedOffset, ahead from consumer_offset where group_id = ? and queue_id = ?`,
    )
    // Fence, upper bound and monotony in the one statement: nothing can come between check and change.
    this.#advance = db.prepare(
      `insert into consumer_offset (group_id, queue_id, committed_offset, updated_at)
       select l.group_id, l.queue_id, min(?, q.max_offset), ?
       from queue_lock l join queue q on q.id = l.queue_id
       where l.group_id = ? and l.queue_id = ? and l.client_id = ? and l.epoch = ?
       on conflict (group_id, queue_id)
       do update set committed_offset = excluded.committed_offset, updated_at = excluded.updated_at
       where excluded.committed_offset > committed_offset and ahead is null`,
    )
    this.#put = db.prepare(
      `insert into consumer_offset (group_id, queue_id, committed_offset, ahead, updated_at)
       select ?, q.id, min(?, q.max_offset), ?, ? from queue q where q.id = ?
       on conflict (group_id, queue_id) do update
       set committed_offset = excluded.committed_offset, ahead = excluded.ahead, updated_at = excluded.updated_at`,
    )
    this.#start = db.prepare(
      `insert into consumer_offset (group_id, queue_id, committed_offset, updated_at)
       select ?, q.id, min(?, q.max_offset), ? from queue q where q.id = ?
       on conflict do nothing`,
    )
  }

  /** Of the queues of a topic that the group has started, by queue id. */
  byTopic(groupId: number, topic: string): ConsumerOffsetRow[] {
    return this.#byTopic.all(groupId, topic).map((row) => ({ ...row, ahead: rangesOf(row.ahead) }))
  }

  committed(groupId: number, queueRow: number): number | undefined {
    return this.#byKey.get(groupId, queueRow)?.committedOffset
  }

  /** Committed offset and what is done with beyond it. */
  done(groupId: number, queueRow: number): Done | undefined {
    const row = this.#byKey.get(groupId, queueRow)
    return row && { offset: row.committedOffset, ahead: rangesOf(row.ahead) }
  }

  /**
   * Moves the offset up, at most to the end of the queue, if the client owns the lock in this epoch.
   * False when nothing changed: the fence is stale, the offset is not above the stored one, or there is something
   * ahead of it, which `put` has to merge.
   */
  advance(
    fence: { groupId: number; queueRow: number; clientId: string; epoch: number },
    offset: number,
    now: number,
  ): boolean {
    const { groupId, queueRow, clientId, epoch } = fence
    return this.#advance.run(offset, now, groupId, queueRow, clientId, epoch).changes === 1
  }

  /** Sets both, at most to the end of the queue. The fence was checked, and what is stored was merged. */
  put(groupId: number, queueRow: number, { offset, ahead }: Done, now: number): void {
    this.#put.run(groupId, offset, ahead.length === 0 ? null : JSON.stringify(ahead), now, queueRow)
  }

  /** Sets the offset where there is none. */
  start(groupId: number, queueRow: number, offset: number, now: number): void {
    this.#start.run(groupId, offset, now, queueRow)
  }
}

function rangesOf(json: string | null): DoneRange[] {
  return json === null ? [] : (JSON.parse(json) as DoneRange[])
}
