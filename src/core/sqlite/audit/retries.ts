import {
  ORIGIN_MESSAGE_ID,
  ORIGIN_PLACE,
  RECONSUME_TIME,
  RETRY_TOPIC,
  UNIQ_KEY,
} from '../../model/properties.ts'
import { isDoneSql } from './done.ts'
import type { AuditScope, RowCheck } from './scope.ts'

/** What a message in a retry topic, or on its way there, needs to find back. */
const ALL = [RETRY_TOPIC, ORIGIN_MESSAGE_ID, ORIGIN_PLACE, RECONSUME_TIME]
/** `%RETRY%` in front of the group's name. */
const PREFIX_LENGTH = '%RETRY%'.length

const DELAYED = `from delayed_message m
  join queue q on q.id = m.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic or m.properties ->> '${RETRY_TOPIC}' = @topic)
    and (@group is null or not t.name like '\\%RETRY\\%%' escape '\\' or substr(t.name, ${PREFIX_LENGTH + 1}) = @group)`
const PLACE = `t.name as topic, q.queue_id as queueId, null as "group", null as offset`

/** A retry topic, its one queue, and the group whose failed messages come through it. */
interface RetryQueue {
  readonly topic: string
  readonly queueRow: number
  readonly group: string
}

/** Invariants 5 and 7: what is to come later is whole, and a message that fails waits in one place. */
export function checkRetries(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${DELAYED}`).pluck().get(scope.params)
  scope.count('delayedMessages', n ?? 0)
  scope.run(DELAYED_ROWS)
  for (const queue of retryQueues(scope)) checkRetryQueue(scope, queue)
}

const DELAYED_ROWS: readonly RowCheck[] = [
  {
    invariant: 5,
    sql: `select ${PLACE}, format('delayed message %d has no id of its own (${UNIQ_KEY})', m.id) as detail
          ${DELAYED} and not (json_valid(m.properties) and m.properties ->> '${UNIQ_KEY}' is not null)`,
  },
]

function retryQueues({ db, params }: AuditScope): RetryQueue[] {
  return db
    .prepare<unknown[], RetryQueue>(
      `select t.name as topic, q.id as queueRow, g.name as "group"
       from topic t join queue q on q.topic_id = t.id
       join consumer_group g on g.name = substr(t.name, ${PREFIX_LENGTH + 1})
       where t.name like '\\%RETRY\\%%' escape '\\'
         and (@group is null or g.name = @group) and (@topic is null or @topic is not null)
         and exists (select 1 from sqlite_schema where name = 'message_' || q.id)
       order by t.name, q.queue_id`,
    )
    .all(params)
}

function checkRetryQueue(scope: AuditScope, { topic, queueRow, group }: RetryQueue): void {
  const has = (name: string) => `m.properties ->> '${name}' is not null`
  // What somebody sent there by hand came from nowhere.
  const isHalf = `(${ALL.map(has).join(' or ')}) and not (${ALL.map(has).join(' and ')})`
  const origin = (field: string) => `m.properties ->> '${ORIGIN_PLACE}' ->> '${field}'`
  /** Retries that wait, with their origin: delayed ones, and those that the group is not done with. */
  const waiting = `with waiting (id, topic, queueRow, queueId, offset) as (
      select m.properties ->> '${UNIQ_KEY}', m.properties ->> '${RETRY_TOPIC}', ${origin('queueRow')},
        ${origin('queueId')}, ${origin('offset')}
      from (
        select properties from delayed_message where queue_id = ${queueRow} and json_valid(properties)
        union all
        select m.properties from message_${queueRow} m
        left join consumer_offset o on o.queue_id = ${queueRow}
          and o.group_id = (select id from consumer_group where name = '${quoted(group)}')
        where json_valid(m.properties) and not ${isDoneSql('m.offset')}
      ) m where ${ALL.map(has).join(' and ')} and (@topic is null or m.properties ->> '${RETRY_TOPIC}' = @topic)
        and (@group is null or @group is not null)
    )`
  const place = `w.topic, w.queueId, g.name as "group", w.offset`
  const ofGroup = `from waiting w join consumer_group g on g.name = '${quoted(group)}'`
  scope.run([
    {
      invariant: 7,
      sql: `select '${quoted(topic)}' as topic, 0 as queueId, '${quoted(group)}' as "group", m.offset,
              'a retry that does not know where it came from' as detail
            from message_${queueRow} m
            where json_valid(m.properties) and ${isHalf}
              and (@topic is null or @topic is not null) and (@group is null or @group is not null)`,
    },
    {
      invariant: 7,
      sql: `${waiting} select ${place}, format('waits for %d retries at once', count(*)) as detail
            ${ofGroup} group by w.queueRow, w.offset having count(*) > 1`,
    },
    {
      invariant: 7,
      sql: `${waiting} select distinct ${place},
              format('waits for a retry and is pending: the committed offset is %s',
                coalesce(o.committed_offset, 'none')) as detail
            ${ofGroup} join queue q on q.id = w.queueRow
            left join consumer_offset o on o.group_id = g.id and o.queue_id = w.queueRow
            where w.offset >= q.min_offset and not ${isDoneSql('w.offset')}`,
    },
    {
      invariant: 7,
      sql: `${waiting} select distinct ${place}, format('waits for a retry and is among the dead letters (%s)', d.state) as detail
            ${ofGroup} join dead_letter d on d.group_id = g.id and d.queue_row = w.queueRow and d.offset = w.offset
            where d.reset_at is null and (d.state in ('dead', 'parked') or d.settled_at is null)`,
    },
  ])
}

function quoted(name: string): string {
  return name.replaceAll("'", "''")
}
