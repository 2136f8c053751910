import type Database from 'better-sqlite3'

/** The table `parked_key`: keys that a group holds back, by queues that parked messages of theirs. Starts no transactions. */
export class ParkedKeyTable {
  readonly #add: Database.Statement<[number, number, string]>
  readonly #list: Database.Statement<[number, number], string>
  readonly #has: Database.Statement<[number, number, string], number>
  readonly #reopen: Database.Statement<[number]>

  constructor(db: Database.Database) {
    this.#add = db.prepare(
      `insert into parked_key (group_id, queue_id, key) values (?, ?, ?) on conflict do nothing`,
    )
    // In any queue of the topic: a change of the number of queues sends the key's later messages to another one.
    const ofTopic = `from queue asked join queue q on q.topic_id = asked.topic_id
      join parked_key p on p.group_id = ? and p.queue_id = q.id where asked.id = ?`
    this.#list = db
      .prepare<[number, number], string>(`select distinct p.key ${ofTopic} order by p.key`)
      .pluck()
    this.#has = db
      .prepare<[number, number, string], number>(`select 1 ${ofTopic} and p.key = ? limit 1`)
      .pluck()
    this.#reopen = db.prepare(
      `delete from parked_key where group_id = ? and not exists (
         select 1 from dead_letter d
         where d.group_id = parked_key.group_id and d.queue_row = parked_key.queue_id
           and d.key = parked_key.key and d.state in ('dead', 'parked') and d.reset_at is null)`,
    )
  }

  add(groupId: number, queueRow: number, key: string): void {
    this.#add.run(groupId, queueRow, key)
  }

  /** Keys that are parked in the queue's topic, sorted. */
  list(groupId: number, queueRow: number): string[] {
    return this.#list.all(groupId, queueRow)
  }

  has(groupId: number, queueRow: number, key: string): boolean {
    return this.#has.get(groupId, queueRow, key) === 1
  }

  /** Opens the keys of a group that have no dead and no parked letter left; answers how many. */
  reopen(groupId: number): number {
    return this.#reopen.run(groupId).changes
  }
}
