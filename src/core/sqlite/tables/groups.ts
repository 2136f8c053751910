import type Database from 'better-sqlite3'
import type { GroupConfig } from '../../model/group.ts'

/** A row of `consumer_group`. */
export interface GroupRow {
  readonly id: number
  readonly name: string
  readonly maxReconsumeTimes: number
  readonly suspendMs: number
  readonly consumeEnable: number
  readonly trace: number
  readonly createdAt: number
}

/** The columns that people set. */
export type GroupSettings = Omit<GroupRow, 'id' | 'name' | 'createdAt'>

const COLUMNS = `id, name, max_reconsume_times as maxReconsumeTimes, suspend_ms as suspendMs,
  consume_enable as consumeEnable, trace, created_at as createdAt`

/** The table `consumer_group`. Starts no transactions. */
export class Groups {
  readonly #byName: Database.Statement<[string], GroupRow>
  readonly #all: Database.Statement<[], GroupRow>
  readonly #insert: Database.Statement<[string, number]>
  readonly #create: Database.Statement<[GroupSettings & { name: string; createdAt: number }]>
  readonly #update: Database.Statement<[GroupSettings & { id: number }]>
  readonly #remove: Database.Statement<[number]>
  readonly #topics: Database.Statement<{ group: number }, string>

  constructor(db: Database.Database) {
    this.#byName = db.prepare(`select ${COLUMNS} from consumer_group where name = ?`)
    this.#all = db.prepare(`select ${COLUMNS} from consumer_group order by name`)
    this.#insert = db.prepare(
      `insert into consumer_group (name, created_at) values (?, ?) on conflict do nothing`,
    )
    this.#create = db.prepare(
      `insert into consumer_group (name, max_reconsume_times, suspend_ms, consume_enable, trace, created_at)
       values (@name, @maxReconsumeTimes, @suspendMs, @consumeEnable, @trace, @createdAt)
       on conflict (name) do nothing`,
    )
    this.#update = db.prepare(
      `update consumer_group set max_reconsume_times = @maxReconsumeTimes, suspend_ms = @suspendMs,
         consume_enable = @consumeEnable, trace = @trace
       where id = @id`,
    )
    this.#remove = db.prepare(`delete from consumer_group where id = ?`)
    this.#topics = db
      .prepare<{ group: number }, string>(
        `select value ->> 'topic' from member, json_each(member.subscriptions) where group_id = @group
         union
         select t.name from consumer_offset o
         join queue q on q.id = o.queue_id
         join topic t on t.id = q.topic_id
         where o.group_id = @group
         union
         select t.name from broadcast_offset b
         join queue q on q.id = b.queue_id
         join topic t on t.id = q.topic_id
         where b.group_id = @group
         union
         select t.name from queue_lock l
         join queue q on q.id = l.queue_id
         join topic t on t.id = q.topic_id
         where l.group_id = @group
         order by 1`,
      )
      .pluck()
  }

  byName(name: string): GroupRow | undefined {
    return this.#byName.get(name)
  }

  /** Sorted by name. */
  all(): GroupRow[] {
    return this.#all.all()
  }

  /** The group's id; makes the group when it is new. Inside a write job. */
  ensure(name: string, now: number): number {
    const known = this.byName(name)
    if (known !== undefined) return known.id
    this.#insert.run(name, now)
    return (this.byName(name) as GroupRow).id
  }

  /** False when the name is taken. Inside a write job. */
  create(name: string, settings: GroupSettings, createdAt: number): boolean {
    return this.#create.run({ name, ...settings, createdAt }).changes === 1
  }

  update(id: number, settings: GroupSettings): void {
    this.#update.run({ id, ...settings })
  }

  /** With all that refers to the group. */
  remove(id: number): void {
    this.#remove.run(id)
  }

  /** Topics that members subscribe to, and topics where the group has an offset or had a lock. Sorted. */
  topics(groupId: number): string[] {
    return this.#topics.all({ group: groupId })
  }
}

export function toGroupConfig(row: GroupRow): GroupConfig {
  return {
    group: row.name,
    maxReconsumeTimes: row.maxReconsumeTimes,
    suspendMs: row.suspendMs,
    consumeEnable: row.consumeEnable !== 0,
    trace: row.trace !== 0,
    createdAt: row.createdAt,
  }
}
