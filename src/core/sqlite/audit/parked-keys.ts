import type { AuditScope } from './scope.ts'

const FROM = `from parked_key p
  join consumer_group g on g.id = p.group_id
  join queue q on q.id = p.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`

/** Invariant 7: a key is held back only for a dead letter of it, or its later messages would end there for nothing. */
export function checkParkedKeys(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('parkedKeys', n ?? 0)
  scope.run([
    {
      invariant: 7,
      sql: `select t.name as topic, q.queue_id as queueId, g.name as "group", null as offset,
              format('key %s is parked, but no message of it is dead or parked', p.key) as detail
            ${FROM} and not exists
              (select 1 from dead_letter d
               where d.group_id = p.group_id and d.queue_row = p.queue_id and d.key = p.key
                 and d.state in ('dead', 'parked') and d.reset_at is null)`,
    },
  ])
}
