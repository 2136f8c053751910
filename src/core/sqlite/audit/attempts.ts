import { isDoneSql } from './done.ts'
import type { AuditScope } from './scope.ts'

const PLACE = `t.name as topic, q.queue_id as queueId, g.name as "group", a.offset as offset`
const FROM = `from attempt a
  join consumer_group g on g.id = a.group_id
  join queue q on q.id = a.queue_id
  join topic t on t.id = q.topic_id
  left join consumer_offset o on o.group_id = a.group_id and o.queue_id = a.queue_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`

/**
 * Invariants 2, 3, 4 and 8 as far as attempts show them. Several rows of a queue may say `running`: batches and
 * messages that run beside each other do, and what a dead owner left stays so until the next owner comes to it. Nor
 * is there a bound on how far ahead a start may be: a start that is stored, as these are, may be anywhere.
 */
export function checkAttempts(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('attempts', n ?? 0)
  scope.run([
    {
      invariant: 2,
      sql: `select ${PLACE},
              format('%d attempts of a message below the committed offset %d', a.attempts, o.committed_offset) as detail
            ${FROM} and a.replay = 0 and a.offset < o.committed_offset`,
    },
    {
      invariant: 2,
      sql: `select ${PLACE},
              format('%d attempts of a message that is done with, beyond the committed offset %d', a.attempts,
                o.committed_offset) as detail
            ${FROM} and a.replay = 0 and a.offset >= o.committed_offset and ${isDoneSql('a.offset')}`,
    },
    {
      invariant: 3,
      sql: `select ${PLACE}, format('attempts of a message at or above the max offset %d', q.max_offset) as detail
            ${FROM} and a.offset >= q.max_offset`,
    },
    {
      invariant: 3,
      sql: `select ${PLACE}, format('%d attempts are stored; the least is 1', a.attempts) as detail
            ${FROM} and a.attempts < 1`,
    },
    {
      invariant: 4,
      sql: `select ${PLACE}, 'attempts in a queue that the group has never locked' as detail
            ${FROM} and not exists
              (select 1 from queue_lock l where l.group_id = a.group_id and l.queue_id = a.queue_id)`,
    },
    {
      invariant: 8,
      sql: `select ${PLACE}, format('attempts of replay %d, which does not wait in the lane', a.replay) as detail
            ${FROM} and a.replay > 0 and not exists
              (select 1 from dead_letter d
               where d.group_id = a.group_id and d.queue_row = a.queue_id and d.offset = a.offset
                 and d.state = 'replayed' and d.settled_at is null and d.replays = a.replay)`,
    },
  ])
}
