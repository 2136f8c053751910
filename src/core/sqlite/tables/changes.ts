import type Database from 'better-sqlite3'

export type ChangeKind = 'rebalance' | 'redelivery'

/** The table `change`: one counter a kind, so that whoever was not woken finds out that something happened. */
export class Changes {
  readonly #bump: Database.Statement<[ChangeKind]>
  readonly #read: Database.Statement<[ChangeKind], number>

  constructor(db: Database.Database) {
    this.#bump = db.prepare(`update change set n = n + 1 where kind = ?`)
    this.#read = db.prepare<[ChangeKind], number>(`select n from change where kind = ?`).pluck()
  }

  /** Inside a write job. */
  bump(kind: ChangeKind): void {
    this.#bump.run(kind)
  }

  read(kind: ChangeKind): number {
    return this.#read.get(kind) ?? 0
  }
}
