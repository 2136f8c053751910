import type Database from 'better-sqlite3'

/** A queue whose topic keeps messages for a limited time. */
export interface AgingQueue {
  readonly id: number
  readonly topicId: number
  readonly retentionMs: number
  readonly minOffset: number
  readonly maxOffset: number
}

/** What retention asks of queues and their messages. Starts no transactions. */
export class OldMessages {
  readonly #db: Database.Database
  readonly #queues: Database.Statement<[], AgingQueue>
  readonly #queue: Database.Statement<[number], AgingQueue>
  readonly #passed: Database.Statement<{ queue: number; topic: number }, number | null>
  readonly #raise: Database.Statement<[number, number]>

  constructor(db: Database.Database) {
    this.#db = db
    const aging = `select q.id, q.topic_id as topicId, t.retention_ms as retentionMs, q.min_offset as minOffset,
        q.max_offset as maxOffset
      from topic t join queue q on q.topic_id = t.id
      where t.retention_ms is not null and q.min_offset < q.max_offset`
    this.#queues = db.prepare(aging)
    this.#queue = db.prepare(`${aging} and q.id = ?`)
    // A group that knows the topic and has no offset in the queue has consumed nothing there. Of broadcasting members
    // those count that are there now: one that is gone may never come back under its name.
    this.#passed = db
      .prepare<{ queue: number; topic: number }, number | null>(
        `select min(passed) from (
           select coalesce(o.committed_offset, 0) as passed
           from (
             select a.group_id from queue q join consumer_offset a on a.queue_id = q.id where q.topic_id = @topic
             union
             select m.group_id from member m, json_each(m.subscriptions) s
             where m.message_model = 'clustering' and s.value ->> 'topic' = (select name from topic where id = @topic)
           ) g left join consumer_offset o on o.group_id = g.group_id and o.queue_id = @queue
           union all
           select b.committed_offset from member m
           join broadcast_offset b on b.group_id = m.group_id and b.client_id = m.client_id and b.queue_id = @queue
         )`,
      )
      .pluck()
    this.#raise = db.prepare(`update queue set min_offset = ? where id = ?`)
  }

  queues(): AgingQueue[] {
    return this.#queues.all()
  }

  /** As it is now; `undefined` when it is gone, empty, or keeps its messages by now. */
  queue(id: number): AgingQueue | undefined {
    return this.#queue.get(id)
  }

  /** Below it every group is done with the queue. */
  passed({ id, topicId, maxOffset }: AgingQueue): number {
    return this.#passed.get({ queue: id, topic: topicId }) ?? maxOffset
  }

  /** End of the run of messages older than `before` with which the queue begins, as far as `limit` messages show. */
  endOfOld({ id, minOffset }: AgingQueue, before: number, limit: number): number {
    const end = this.#db
      .prepare<{ from: number; limit: number; before: number }, number | null>(
        `select coalesce(min(offset) filter (where stored >= @before), max(offset) + 1)
         from (select offset, stored from message_${id} where offset >= @from order by offset limit @limit)`,
      )
      .pluck()
      .get({ from: minOffset, limit, before })
    return end ?? minOffset
  }

  /** Inside a write job. */
  removeBelow({ id }: AgingQueue, offset: number): void {
    this.#db.prepare<[number]>(`delete from message_${id} where offset < ?`).run(offset)
    this.#raise.run(offset, id)
  }

  /** Gives so many free pages back to the file system, if there are as many. Inside a write job. */
  giveBackPages(pages: number): void {
    this.#db.pragma(`incremental_vacuum(${pages})`)
  }
}
