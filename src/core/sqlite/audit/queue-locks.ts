import type { AuditScope } from './scope.ts'

const PLACE = `t.name as topic, q.queue_id as queueId, g.name as "group", null as offset`
const FROM = `from queue_lock l
  join consumer_group g on g.id = l.group_id
  join queue q on q.id = l.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`

/** Invariant 9: one owner a lock, and one that can be named. One row a lock is the table's own primary key. */
export function checkQueueLocks(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('locks', n ?? 0)
  scope.run([
    {
      invariant: 9,
      sql: `select ${PLACE}, format('its owner %s is no client that is known', l.client_id) as detail
            ${FROM} and l.client_id is not null
            and not exists (select 1 from client c where c.client_id = l.client_id)`,
    },
    {
      invariant: 9,
      sql: `select ${PLACE}, format('epoch %d; the first is 1', l.epoch) as detail ${FROM} and l.epoch < 1`,
    },
    {
      invariant: 9,
      sql: `select ${PLACE}, format('owned by %s and at the same time lost (%s)', l.client_id, l.lost_by) as detail
            ${FROM} and l.client_id is not null and l.lost_by is not null`,
    },
    {
      invariant: 9,
      sql: `select ${PLACE}, format('a handler (pid %d) without an owner', h.pid) as detail
            ${FROM.replace('where', 'join lock_handler h on h.group_id = l.group_id and h.queue_id = l.queue_id where')}
            and l.client_id is null`,
    },
    {
      invariant: 9,
      sql: `select null as topic, null as queueId, g.name as "group", null as offset,
              format('member %s is no client that is known', m.client_id) as detail
            from member m join consumer_group g on g.id = m.group_id
            where (@group is null or g.name = @group) and (@topic is null or @topic is not null)
            and not exists (select 1 from client c where c.client_id = m.client_id)`,
    },
  ])
}
