import type Database from 'better-sqlite3'
import type { DeliveryEvent, DeliveryOrdering } from '../../model/delivery.ts'

/** A row of `delivery`, without its id. */
export interface NewDelivery {
  readonly groupId: number
  /** `queue.id`. */
  readonly queueRow: number
  readonly offset: number
  readonly replay: number
  readonly msgId: string
  readonly event: DeliveryEvent
  readonly attempt: number
  readonly clientId: string
  readonly epoch: number
  readonly ordering: DeliveryOrdering
  readonly error: string | null
  readonly at: number
}

/** A delivery with the names of its group and queue. */
export interface NamedDelivery {
  readonly group: string
  readonly topic: string
  readonly queueId: number
  readonly offset: number
  readonly replay: number
  readonly msgId: string
  readonly event: DeliveryEvent
  readonly attempt: number
  readonly clientId: string
  readonly epoch: number
  readonly error: string | null
  readonly at: number
}

/** The table `delivery`, the journal. Starts no transactions. */
export class Deliveries {
  readonly #insert: Database.Statement<[NewDelivery & { run: number | null }], number>
  readonly #byMessage: Database.Statement<{ msgId: string; group: string | null }, NamedDelivery>
  readonly #prune: Database.Statement<[number, number]>

  constructor(db: Database.Database) {
    // The first of a run names it; its id is the next one, since ids are never used again.
    this.#insert = db
      .prepare<[NewDelivery & { run: number | null }], number>(
        `insert into delivery (group_id, queue_id, offset, replay, msg_id, event, attempt, client_id, epoch, ordering,
           run, error, at)
         select g.id, q.id, @offset, @replay, @msgId, @event, @attempt, @clientId, @epoch, @ordering,
           coalesce(@run, (select seq from sqlite_sequence where name = 'delivery') + 1, 1), @error, @at
         from consumer_group g join queue q on q.id = @queueRow where g.id = @groupId
         returning id`,
      )
      .pluck()
    this.#byMessage = db.prepare(
      `select g.name as "group", t.name as topic, q.queue_id as queueId, d.offset, d.replay, d.msg_id as msgId,
         d.event, d.attempt, d.client_id as clientId, d.epoch, d.error, d.at
       from delivery d
       join consumer_group g on g.id = d.group_id
       join queue q on q.id = d.queue_id
       join topic t on t.id = q.topic_id
       where d.msg_id = @msgId and (@group is null or g.name = @group) order by d.id`,
    )
    this.#prune = db.prepare(
      `delete from delivery where id in (select id from delivery where id <= ? order by id limit ?)`,
    )
  }

  /**
   * Adds what belongs to one run; answers the id of the last, `undefined` when none was added: their group or queue
   * is gone. Inside a write job.
   */
  add(deliveries: readonly NewDelivery[]): number | undefined {
    let run: number | null = null
    let last: number | undefined
    for (const delivery of deliveries) {
      last = this.#insert.get({ ...delivery, run })
      run ??= last ?? null
    }
    return last
  }

  /** What is recorded of a message, by the group or by all, in the order in which it came. */
  byMessage(msgId: string, group?: string): NamedDelivery[] {
    return this.#byMessage.all({ msgId, group: group ?? null })
  }

  /** Removes the oldest up to that id, at most `limit`. Inside a write job. */
  prune(id: number, limit: number): void {
    this.#prune.run(id, limit)
  }
}
