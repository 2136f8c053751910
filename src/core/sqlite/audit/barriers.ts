import type { AuditScope } from './scope.ts'

const FROM = `from barrier_queue b
  join queue q on q.id = b.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or @group is not null)`

/** Invariant 3: a barrier is where a queue once ended. Beyond its end no group could ever get past it. */
export function checkBarriers(scope: AuditScope): void {
  const n = scope.db
    .prepare<unknown[], number>(`select count(distinct b.barrier_id) ${FROM}`)
    .pluck()
    .get(scope.params)
  scope.count('barriers', n ?? 0)
  scope.run([
    {
      invariant: 3,
      sql: `select t.name as topic, q.queue_id as queueId, null as "group", b.offset,
              format('barrier %d is not within 0 and the max offset %d', b.barrier_id, q.max_offset) as detail
            ${FROM} and b.offset not between 0 and q.max_offset`,
    },
  ])
}
