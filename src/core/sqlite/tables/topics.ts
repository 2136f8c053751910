import type Database from 'better-sqlite3'
import type { HashRule, TopicConfig, TopicPerm } from '../../model/topic.ts'
import { topicNotFound } from '../not-found.ts'

/** A row of `topic`. */
export interface TopicRow {
  readonly id: number
  readonly name: string
  readonly queues: number
  readonly hash: HashRule
  readonly retentionMs: number | null
  readonly maxBody: number
  readonly perm: TopicPerm
  readonly createdAt: number
}

/** The columns that people change. */
export type TopicSettings = Pick<TopicRow, 'queues' | 'retentionMs' | 'maxBody' | 'perm'>

const COLUMNS = `id, name, queues, hash, retention_ms as retentionMs, max_body as maxBody, perm,
  created_at as createdAt`

/** The table `topic`. Starts no transactions: who changes something does it inside a write job. */
export class Topics {
  readonly #byName: Database.Statement<[string], TopicRow>
  readonly #byId: Database.Statement<[number], TopicRow>
  readonly #all: Database.Statement<[], TopicRow>
  readonly #update: Database.Statement<[TopicSettings & { id: number }]>
  readonly #insert: Database.Statement<
    [string, number, string, number | null, number, number, number],
    TopicRow
  >

  constructor(db: Database.Database) {
    this.#byName = db.prepare(`select ${COLUMNS} from topic where name = ?`)
    this.#byId = db.prepare(`select ${COLUMNS} from topic where id = ?`)
    this.#all = db.prepare(`select ${COLUMNS} from topic order by name`)
    this.#update = db.prepare(
      `update topic set queues = @queues, retention_ms = @retentionMs, max_body = @maxBody, perm = @perm
       where id = @id`,
    )
    this.#insert = db.prepare(
      `insert into topic (name, queues, hash, retention_ms, max_body, perm, created_at)
       values (?, ?, ?, ?, ?, ?, ?) on conflict (name) do nothing returning ${COLUMNS}`,
    )
  }

  byName(name: string): TopicRow | undefined {
    return this.#byName.get(name)
  }

  byId(id: number): TopicRow | undefined {
    return this.#byId.get(id)
  }

  /** The topic, or TOPIC_NOT_FOUND naming the nearest one. */
  get(name: string): TopicRow {
    const row = this.byName(name)
    if (row === undefined) {
      throw topicNotFound(
        name,
        this.all().map((topic) => topic.name),
      )
    }
    return row
  }

  /** Sorted by name. */
  all(): TopicRow[] {
    return this.#all.all()
  }

  /** Adds a topic; `undefined` when the name is taken. Its queues are made by `Queues.create`. */
  insert(topic: Omit<TopicRow, 'id'>): TopicRow | undefined {
    return this.#insert.get(
      topic.name,
      topic.queues,
      topic.hash,
      topic.retentionMs,
      topic.maxBody,
      topic.perm,
      topic.createdAt,
    )
  }
  /** Its queues are another table's: see `Queues.create`. */
  update(id: number, { queues, retentionMs, maxBody, perm }: TopicSettings): void {
    this.#update.run({ id, queues, retentionMs, maxBody, perm })
  }
}

export function toTopicConfig(row: TopicRow): TopicConfig {
  const { name, queues, hash, retentionMs, maxBody, perm, createdAt } = row
  return { topic: name, queues, hash, retentionMs, maxBody, perm, createdAt }
}
