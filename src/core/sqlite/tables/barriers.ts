import type Database from 'better-sqlite3'

/** A row of `barrier`. */
export interface BarrierRow {
  readonly id: number
  readonly fromQueues: number
  readonly toQueues: number
  readonly createdAt: number
}

/** A queue in which a group is not past a barrier. */
export interface BarrierDebtRow {
  readonly group: string
  readonly queueId: number
  readonly committedOffset: number | null
  readonly offset: number
}

/**
 * A queue of the barrier that the group is not done with up to there. What retention took away is not waited for;
 * a group without an offset has done nothing.
 */
const OWES = `bq.offset > q.min_offset and coalesce(o.committed_offset, 0) < bq.offset`

/** The tables `barrier` and `barrier_queue`. Starts no transactions. */
export class BarrierTable {
  readonly #insert: Database.Statement<[number, number, number, number], number>
  readonly #insertQueues: Database.Statement<[number, number]>
  readonly #newest: Database.Statement<[number], number>
  readonly #owes: Database.Statement<{ barrier: number; group: number }, number>
  readonly #limit: Database.Statement<{ topic: number; group: number; queue: number }, number>
  readonly #byTopic: Database.Statement<[number], BarrierRow>
  readonly #debts: Database.Statement<{ barrier: number; topic: number }, BarrierDebtRow>
  readonly #removeOutlived: Database.Statement<[number]>

  constructor(db: Database.Database) {
    this.#insert = db
      .prepare<[number, number, number, number], number>(
        `insert into barrier (topic_id, from_queues, to_queues, created_at) values (?, ?, ?, ?) returning id`,
      )
      .pluck()
    this.#insertQueues = db.prepare(
      `insert into barrier_queue (barrier_id, queue_id, offset) select ?, id, max_offset from queue where topic_id = ?`,
    )
    this.#newest = db.prepare<[number], number>(`select max(id) from barrier where topic_id = ?`).pluck()
    const debts = (barrier: string) =>
      `barrier_queue bq join queue q on q.id = bq.queue_id
       left join consumer_offset o on o.group_id = @group and o.queue_id = bq.queue_id
       where bq.barrier_id = ${barrier} and ${OWES}`
    this.#owes = db
      .prepare<{ barrier: number; group: number }, number>(`select 1 from ${debts('@barrier')} limit 1`)
      .pluck()
    this.#limit = db
      .prepare<{ topic: number; group: number; queue: number }, number>(
        `with first (id) as (
           select b.id from barrier b where b.topic_id = @topic and exists (select 1 from ${debts('b.id')})
           order by b.id limit 1)
         select coalesce((select offset from barrier_queue where barrier_id = first.id and queue_id = @queue), 0)
         from first`,
      )
      .pluck()
    this.#byTopic = db.prepare(
      `select id, from_queues as fromQueues, to_queues as toQueues, created_at as createdAt
       from barrier where topic_id = ? order by id`,
    )
    // Members that keep no order, and those that each take all, wait for no barrier.
    this.#debts = db.prepare(
      `select g.name as "group", q.queue_id as queueId, o.committed_offset as committedOffset, bq.offset
       from barrier_queue bq join queue q on q.id = bq.queue_id
       cross join consumer_group g
       left join consumer_offset o on o.group_id = g.id and o.queue_id = bq.queue_id
       where bq.barrier_id = @barrier and ${OWES}
         and not exists (select 1 from member m where m.group_id = g.id
           and (m.mode = 'concurrent' or m.message_model = 'broadcasting'))
         and (exists (select 1 from consumer_offset a join queue b on b.id = a.queue_id
                where a.group_id = g.id and b.topic_id = @topic)
           or exists (select 1 from member m, json_each(m.subscriptions) s
                where m.group_id = g.id and s.value ->> 'topic' = (select name from topic where id = @topic)))
       order by g.name, q.queue_id`,
    )
    this.#removeOutlived = db.prepare(
      `delete from barrier where topic_id = ? and not exists (
         select 1 from barrier_queue bq join queue q on q.id = bq.queue_id
         where bq.barrier_id = barrier.id and bq.offset > q.min_offset)
       and not exists (
         select 1 from queue q join delayed_message d on d.queue_id = q.id where q.topic_id = barrier.topic_id)`,
    )
  }

  /** Raises a barrier where every queue of the topic ends now. */
  raise(topicId: number, fromQueues: number, toQueues: number, now: number): void {
    const id = this.#insert.get(topicId, fromQueues, toQueues, now) as number
    this.#insertQueues.run(id, topicId)
  }

  newest(topicId: number): number | undefined {
    return this.#newest.get(topicId) ?? undefined
  }

  /** Whether the group is not past the barrier. */
  owes(barrierId: number, groupId: number): boolean {
    return this.#owes.get({ barrier: barrierId, group: groupId }) === 1
  }

  /** Where the first barrier that the group is not past is in this queue; `undefined`: it is past all. */
  limit(topicId: number, groupId: number, queueRow: number): number | undefined {
    return this.#limit.get({ topic: topicId, group: groupId, queue: queueRow })
  }

  /** Oldest first. */
  byTopic(topicId: number): BarrierRow[] {
    return this.#byTopic.all(topicId)
  }

  /** What holds groups of the topic up at a barrier, by group and queue id. */
  debts(barrierId: number, topicId: number): BarrierDebtRow[] {
    return this.#debts.all({ barrier: barrierId, topic: topicId })
  }

  /** Removes barriers before which nothing is stored any more, and behind which no delayed message comes. */
  removeOutlived(topicId: number): void {
    this.#removeOutlived.run(topicId)
  }
}
