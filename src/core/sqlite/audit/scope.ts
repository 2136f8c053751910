import type Database from 'better-sqlite3'
import type { AuditFilter, Violation } from '../../model/audit.ts'

/** What of the file is looked at, and what was found. */
export class AuditScope {
  readonly db: Database.Database
  readonly storeId: number
  readonly violations: Violation[] = []
  readonly checked: Record<string, number> = {}
  /** `null` in a filter parameter means all. */
  readonly params: { readonly topic: string | null; readonly group: string | null }

  constructor(db: Database.Database, storeId: number, { topic, group }: AuditFilter) {
    this.db = db
    this.storeId = storeId
    this.params = { topic: topic ?? null, group: group ?? null }
  }

  get isWholeFile(): boolean {
    return this.params.topic === null && this.params.group === null
  }

  add(violation: Pick<Violation, 'invariant' | 'detail'> & Partial<Violation>): void {
    this.violations.push({ topic: null, queueId: null, group: null, offset: null, ...violation })
  }

  count(what: string, n: number): void {
    this.checked[what] = (this.checked[what] ?? 0) + n
  }

  /** Runs checks that are one query each. */
  run(checks: readonly RowCheck[]): void {
    for (const { invariant, sql } of checks) {
      for (const found of this.db.prepare<unknown[], Omit<Violation, 'invariant'>>(sql).all(this.params)) {
        this.add({ invariant, ...found })
      }
    }
  }
}

/**
 * A query whose every row is a violation: `topic, queueId, group, offset, detail`. It uses @topic and @group,
 * which are null for all.
 */
export interface RowCheck {
  /** Number in the list of invariants. */
  readonly invariant: number
  readonly sql: string
}
