import type Database from 'better-sqlite3'

/** A row of `broadcast_offset`, with the number of its queue. */
export interface BroadcastOffsetRow {
  readonly queueId: number
  readonly committedOffset: number
}

/** The table `broadcast_offset`: how far each client of a broadcasting group is. Starts no transactions. */
export class BroadcastOffsets {
  readonly #byTopic: Database.Statement<[number, string, string], BroadcastOffsetRow>
  readonly #smallest: Database.Statement<[number, number], number | null>
  readonly #put: Database.Statement<[number, string, number, number, number]>

  constructor(db: Database.Database) {
    this.#byTopic = db.prepare(
      `select q.queue_id as queueId, b.committed_offset as committedOffset
       from topic t
       join queue q on q.topic_id = t.id
       join broadcast_offset b on b.queue_id = q.id and b.group_id = ? and b.client_id = ?
       where t.name = ? order by q.queue_id`,
    )
    this.#smallest = db
      .prepare<[number, number], number | null>(
        `select min(committed_offset) from broadcast_offset where group_id = ? and queue_id = ?`,
      )
      .pluck()
    this.#put = db.prepare(
      `insert into broadcast_offset (group_id, client_id, queue_id, committed_offset, updated_at)
       select ?, ?, q.id, min(?, q.max_offset), ? from queue q where q.id = ?
       on conflict (group_id, client_id, queue_id)
       do update set committed_offset = excluded.committed_offset, updated_at = excluded.updated_at
       where excluded.committed_offset > committed_offset`,
    )
  }

  /** Of the queues of a topic that the client has started, by queue id. */
  byTopic(groupId: number, clientId: string, topic: string): BroadcastOffsetRow[] {
    return this.#byTopic.all(groupId, clientId, topic)
  }

  /** How far the slowest client of the group is; `undefined` when none has started on the queue. */
  smallest(groupId: number, queueRow: number): number | undefined {
    return this.#smallest.get(groupId, queueRow) ?? undefined
  }

  /** Moves the offset up, at most to the end of the queue; never back. Inside a write job. */
  put(groupId: number, clientId: string, queueRow: number, offset: number, now: number): void {
    this.#put.run(groupId, clientId, offset, now, queueRow)
  }
}
