import type Database from 'better-sqlite3'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../../model/message-queue.ts'
import { queueNotFound, queueRowGone } from '../not-found.ts'
import { messageTableSql } from '../schema.ts'
import type { Topics } from './topics.ts'

/** A row of `queue`. `id` names its message table; `queueId` is its number within the topic. */
export interface QueueRow {
  readonly id: number
  readonly topicId: number
  readonly queueId: number
  readonly minOffset: number
  /** The offset that the next message gets. */
  readonly maxOffset: number
}

const COLUMNS = `q.id, q.topic_id as topicId, q.queue_id as queueId, q.min_offset as minOffset,
  q.max_offset as maxOffset`

/** The table `queue`. Starts no transactions. */
export class Queues {
  readonly #db: Database.Database
  readonly #topics: Topics
  readonly #byTopic: Database.Statement<[number], QueueRow>
  readonly #byPlace: Database.Statement<[string, number], QueueRow>
  readonly #byId: Database.Statement<[number], QueueRow>
  readonly #insert: Database.Statement<[number, number], number>
  readonly #allocate: Database.Statement<[number, number], number>
  readonly #maxOffsets: Database.Statement<[string], [number, number]>

  constructor(db: Database.Database, topics: Topics) {
    this.#db = db
    this.#topics = topics
    this.#byTopic = db.prepare(`select ${COLUMNS} from queue q where q.topic_id = ? order by q.queue_id`)
    this.#byPlace = db.prepare(
      `select ${COLUMNS} from topic t join queue q on q.topic_id = t.id where t.name = ? and q.queue_id = ?`,
    )
    this.#byId = db.prepare(`select ${COLUMNS} from queue q where q.id = ?`)
    this.#insert = db
      .prepare<[number, number], number>(`insert into queue (topic_id, queue_id) values (?, ?) returning id`)
      .pluck()
    this.#allocate = db
      .prepare<[number, number], number>(
        `update queue set max_offset = max_offset + ? where id = ? returning max_offset`,
      )
      .pluck()
    this.#maxOffsets = db
      .prepare<[string], [number, number]>(
        `select id, max_offset from queue where id in (select value from json_each(?))`,
      )
      .raw()
  }

  /** Sorted by queue id. */
  byTopic(topicId: number): QueueRow[] {
    return this.#byTopic.all(topicId)
  }

  byId(id: number): QueueRow | undefined {
    return this.#byId.get(id)
  }

  /** The row of a queue, or TOPIC_NOT_FOUND, or QUEUE_NOT_FOUND. */
  resolve(mq: MessageQueue): QueueRow {
    if (mq.brokerName === EMBEDDED_BROKER_NAME) {
      const row = this.#byPlace.get(mq.topic, mq.queueId)
      if (row !== undefined) return row
    }
    throw queueNotFound(mq, this.#topics.get(mq.topic).queues)
  }

  /** Adds a queue and its message table; answers its id. Inside a write job. */
  create(topicId: number, queueId: number): number {
    const id = this.#insert.get(topicId, queueId) as number
    this.#db.exec(messageTableSql(id))
    return id
  }

  /** Takes `count` offsets and answers the first: gap-free, since it is undone with the insert. Inside a write job. */
  allocate(id: number, count: number): number {
    const next = this.#allocate.get(count, id)
    if (next === undefined) throw queueRowGone(id)
    return next - count
  }

  /** Current `maxOffset` of each of these rows. */
  maxOffsets(ids: readonly number[]): ReadonlyMap<number, number> {
    return new Map(this.#maxOffsets.all(JSON.stringify(ids)))
  }
}
