import type { AuditScope } from './scope.ts'

const FROM = `from consumer_offset o
  join consumer_group g on g.id = o.group_id
  join queue q on q.id = o.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`

/** Invariant 6: no group is further than its queue. That it never moves back shows only over time. */
export function checkCommittedOffsets(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('offsets', n ?? 0)
  scope.run([
    {
      invariant: 6,
      sql: `select t.name as topic, q.queue_id as queueId, g.name as "group", o.committed_offset as offset,
              format('committed offset %d is above the max offset %d', o.committed_offset, q.max_offset) as detail
            ${FROM} and o.committed_offset > q.max_offset`,
    },
    {
      invariant: 6,
      sql: `select t.name as topic, q.queue_id as queueId, g.name as "group", o.committed_offset as offset,
              format('committed offset %d is below zero', o.committed_offset) as detail
            ${FROM} and o.committed_offset < 0`,
    },
  ])
}
