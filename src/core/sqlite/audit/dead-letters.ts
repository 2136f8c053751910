import { UNIQ_KEY } from '../../model/properties.ts'
import { formatMessageId, messageIdPrefix } from '../message-id.ts'
import { isDoneSql } from './done.ts'
import type { AuditScope, RowCheck } from './scope.ts'

const PLACE = `d.topic, d.queue_id as queueId, g.name as "group", d.offset`
/** Without the queue, for those whose topic was deleted since. */
const FROM = `from dead_letter d
  join consumer_group g on g.id = d.group_id
  left join queue q on q.id = d.queue_row
  left join consumer_offset o on o.group_id = d.group_id and o.queue_id = d.queue_row
  where (@topic is null or d.topic = @topic) and (@group is null or g.name = @group)`

interface Original {
  readonly id: number
  readonly topic: string
  readonly queueId: number
  readonly group: string
  readonly offset: number
  readonly queueRow: number
  readonly msgId: string
  readonly isLive: number
}

/** Invariants 5, 7 and 8: a dead letter is one message, in one place, and its replays add up. */
export function checkDeadLetters(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('deadLetters', n ?? 0)
  scope.run(ONE_PLACE)
  scope.run(STATES)
  checkOriginals(scope)
}

/** A reset may bring the original round of a dead letter again, and says so in it. */
const ONE_PLACE: readonly RowCheck[] = [
  {
    invariant: 7,
    sql: `select ${PLACE},
            format('dead-lettered (%s) and pending: the committed offset is %s', d.state,
              coalesce(o.committed_offset, 'none')) as detail
          ${FROM} and q.id is not null and d.offset >= q.min_offset and d.offset < q.max_offset
          and not ${isDoneSql('d.offset')} and d.reset_at is null
          and (d.state in ('dead', 'parked') or d.settled_at is null)`,
  },
  {
    invariant: 7,
    sql: `select ${PLACE}, format('a dead letter at or above the max offset %d of its queue', q.max_offset) as detail
          ${FROM} and d.offset >= q.max_offset`,
  },
]

const STATES: readonly RowCheck[] = [
  {
    invariant: 8,
    sql: `select ${PLACE}, format('state %s, but settled', d.state) as detail
          ${FROM} and d.state in ('dead', 'parked') and d.settled_at is not null`,
  },
  {
    invariant: 8,
    sql: `select ${PLACE}, 'state replayed, but never replayed' as detail
          ${FROM} and d.state = 'replayed' and (d.replays < 1 or d.replayed_at is null)`,
  },
  {
    invariant: 8,
    sql: `select ${PLACE},
            format('replayed %d times, the last time %s', d.replays, coalesce(d.replayed_at, 'never')) as detail
          ${FROM} and d.state <> 'replayed' and (d.replays > 0) <> (d.replayed_at is not null)`,
  },
  {
    invariant: 8,
    sql: `select ${PLACE}, format('%d replays', d.replays) as detail ${FROM} and d.replays < 0`,
  },
]

/** Invariant 5: a dead letter has the id of its place, unless it is a copy, and the body of the stored original. */
function checkOriginals(scope: AuditScope): void {
  const originals = scope.db
    .prepare<unknown[], Original>(
      `select d.id, ${PLACE}, d.queue_row as queueRow, d.msg_id as msgId,
         q.id is not null and d.offset >= q.min_offset and d.offset < q.max_offset as isLive
       ${FROM} and (d.properties is null or instr(d.properties, '"${UNIQ_KEY}"') = 0)`,
    )
    .all(scope.params)
  for (const { id, queueRow, msgId, isLive, topic, queueId, group, offset } of originals) {
    const place = { invariant: 5, topic, queueId, group, offset }
    const expected = formatMessageId(messageIdPrefix(scope.storeId, queueRow), offset)
    if (msgId !== expected) scope.add({ ...place, detail: `message id ${msgId}; its place has ${expected}` })
    else if (isLive && !isSameBody(scope, id, queueRow)) {
      scope.add({ ...place, detail: 'the dead letter differs from the message that is stored at its place' })
    }
  }
}

function isSameBody({ db }: AuditScope, id: number, queueRow: number): boolean {
  const table = db.prepare(`select 1 from sqlite_schema where name = ?`).get(`message_${queueRow}`)
  // A missing table or message is a gap, which is reported as that.
  if (table === undefined) return true
  const same = db
    .prepare<[number], number>(
      `select d.body is m.body and d.key is m.key and d.tags is m.tags
       from dead_letter d join message_${queueRow} m on m.offset = d.offset where d.id = ?`,
    )
    .pluck()
    .get(id)
  return same !== 0
}
