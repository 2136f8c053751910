export interface AuditFilter {
  readonly topic?: string
  readonly group?: string
}

/** One broken invariant of `ARCHITECTURE.md`, with the place where it shows. */
export interface Violation {
  /** Number in the list of invariants, 1 to 9. */
  readonly invariant: number
  readonly topic: string | null
  readonly queueId: number | null
  readonly group: string | null
  readonly offset: number | null
  readonly detail: string
}

export interface AuditReport {
  readonly violations: readonly Violation[]
  readonly checked: Readonly<Record<string, number>>
}
