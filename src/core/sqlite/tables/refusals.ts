import type Database from 'better-sqlite3'

/** A row of `refusal`. */
export interface RefusalRow {
  readonly groupId: number
  readonly text: string
  /** Grows with every refusal of the group. */
  readonly n: number
}

/** The table `refusal`: the last consumer that each group refused. Starts no transactions. */
export class Refusals {
  readonly #put: Database.Statement<[number, string]>
  readonly #byGroup: Database.Statement<[string], RefusalRow>
  readonly #last: Database.Statement<[number], number>

  constructor(db: Database.Database) {
    this.#put = db.prepare(
      `insert into refusal (group_id, text, n) values (?, ?, 1)
       on conflict (group_id) do update set text = excluded.text, n = n + 1`,
    )
    this.#byGroup = db.prepare(
      `select r.group_id as groupId, r.text, r.n from refusal r join consumer_group g on g.id = r.group_id
       where g.name = ?`,
    )
    this.#last = db.prepare<[number], number>(`select n from refusal where group_id = ?`).pluck()
  }

  /** Inside a write job. */
  put(groupId: number, text: string): void {
    this.#put.run(groupId, text)
  }

  byGroup(group: string): RefusalRow | undefined {
    return this.#byGroup.get(group)
  }

  /** Number of the last one; 0 when there was none. */
  last(groupId: number): number {
    return this.#last.get(groupId) ?? 0
  }
}
