import type { DeliveryEvent, DeliveryOrdering } from '../../model/delivery.ts'
import type { Predecessor } from '../tables/queue-locks.ts'
import { DeliveryReplay } from './delivery-replay.ts'
import type { AuditScope } from './scope.ts'

const FROM = `from delivery d
  join consumer_group g on g.id = d.group_id
  join queue q on q.id = d.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`

/** A queue that has a journal in a group. */
export interface JournaledQueue {
  readonly groupId: number
  readonly queueRow: number
  readonly topic: string
  readonly queueId: number
  readonly group: string
  /** Of its lock as it is now. */
  readonly epoch: number | null
  readonly predecessor: Predecessor | null
}

/** A delivery, and the key of its message. */
export interface AuditedDelivery {
  readonly id: number
  readonly offset: number
  readonly replay: number
  readonly event: DeliveryEvent
  readonly attempt: number
  readonly clientId: string
  readonly epoch: number
  readonly ordering: DeliveryOrdering
  readonly run: number
  /** 0: the message is no longer stored, and `key` says nothing. */
  readonly isStored: number
  readonly key: string | null
}

/** Invariants 2, 3, 4, 7 and 9, as far as the journals of groups that keep one show them. */
export function checkDeliveries(scope: AuditScope): void {
  const n = scope.db.prepare<unknown[], number>(`select count(*) ${FROM}`).pluck().get(scope.params)
  scope.count('deliveries', n ?? 0)
  if (n === 0) return
  scope.run([
    {
      invariant: 3,
      sql: `select distinct t.name as topic, q.queue_id as queueId, g.name as "group", d.offset,
              format('a delivery at or above the max offset %d', q.max_offset) as detail
            ${FROM} and d.offset >= q.max_offset`,
    },
  ])
  for (const queue of journaledQueues(scope)) checkQueue(scope, queue)
}

function checkQueue(scope: AuditScope, queue: JournaledQueue): void {
  const { groupId, queueRow } = queue
  const replay = new DeliveryReplay(scope, queue)
  const rows = scope.db
    .prepare<[number, number], AuditedDelivery>(
      `select d.id, d.offset, d.replay, d.event, d.attempt, d.client_id as clientId, d.epoch, d.ordering, d.run,
         m.offset is not null as isStored, m.key
       from delivery d left join message_${queueRow} m on m.offset = d.offset
       where d.group_id = ? and d.queue_id = ? order by d.id`,
    )
    .iterate(groupId, queueRow)
  for (const row of rows) replay.add(row)
}

function journaledQueues({ db, params }: AuditScope): JournaledQueue[] {
  return db
    .prepare<unknown[], JournaledQueue>(
      `select distinct d.group_id as groupId, d.queue_id as queueRow, t.name as topic, q.queue_id as queueId,
         g.name as "group", l.epoch, l.predecessor
       ${FROM.replace('where', 'left join queue_lock l on l.group_id = d.group_id and l.queue_id = d.queue_id where')}
         and exists (select 1 from sqlite_schema where name = 'message_' || d.queue_id)
       order by g.name, t.name, q.queue_id`,
    )
    .all(params)
}
