import type { AuditScope } from './scope.ts'

/** Which invariant a row breaks whose group, topic or queue is not there. */
const INVARIANT_OF: Readonly<Record<string, number>> = {
  queue: 1,
  consumer_offset: 6,
  attempt: 3,
  dead_letter: 7,
  queue_lock: 9,
  member: 9,
  broadcast_offset: 6,
  parked_key: 7,
  delayed_message: 7,
  lock_handler: 9,
  barrier: 3,
  barrier_queue: 3,
  delivery: 2,
  refusal: 9,
}

/** Rows that refer to what is gone. They belong to no topic or group that a filter could name. */
export function checkReferences(scope: AuditScope): void {
  if (!scope.isWholeFile) return
  const orphans = scope.db
    .prepare<[], { table: string; parent: string; n: number }>(
      `select "table", parent, count(*) as n from pragma_foreign_key_check group by "table", parent`,
    )
    .all()
  for (const { table, parent, n } of orphans) {
    const detail = `${n} ${n === 1 ? 'row' : 'rows'} of ${table} without ${parent}`
    scope.add({ invariant: INVARIANT_OF[table] ?? 1, detail })
  }
}
