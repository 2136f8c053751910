import type { AuditScope } from './scope.ts'

/** Gaps that are named in one queue: a file that lost more than these needs no longer list. */
const GAPS_MAX = 100

interface QueueBounds {
  readonly id: number
  readonly topic: string
  readonly queueId: number
  readonly minOffset: number
  readonly maxOffset: number
}

interface TableBounds {
  readonly n: number
  readonly first: number | null
  readonly last: number | null
}

/** Invariant 1: the offsets of a queue are contiguous, and its row says where they begin and end. */
export function checkStoredMessages(scope: AuditScope): void {
  const tables = messageTables(scope)
  const queues = queuesOf(scope)
  for (const queue of queues) {
    scope.count('queues', 1)
    if (tables.has(queue.id)) checkQueue(scope, queue)
    else scope.add({ invariant: 1, ...place(queue), detail: `its table message_${queue.id} is missing` })
  }
  checkQueueCounts(scope)
  if (scope.isWholeFile) checkStrayTables(scope, tables, queues)
}

function checkQueue(scope: AuditScope, queue: QueueBounds): void {
  const { n, first, last } = scope.db
    .prepare<[], TableBounds>(
      `select count(*) as n, min(offset) as first, max(offset) as last from message_${queue.id}`,
    )
    .get() as TableBounds
  scope.count('messages', n)
  const { minOffset, maxOffset } = queue
  const isContiguous =
    n === maxOffset - minOffset && (n === 0 || (first === minOffset && last === maxOffset - 1))
  if (isContiguous) return
  const found = scope.violations.length
  const add = (offset: number, detail: string) => scope.add({ invariant: 1, ...place(queue), offset, detail })
  if (first !== null && first < minOffset) add(first, `stored below the min offset ${minOffset}`)
  if (last !== null && last >= maxOffset) add(last, `stored at or above the max offset ${maxOffset}`)
  for (const [from, to] of gaps(scope, queue)) {
    add(from, from === to ? `offset ${from} is missing` : `offsets ${from} to ${to} are missing`)
  }
  if (scope.violations.length > found) return
  add(
    minOffset,
    `${n} messages are stored where offsets ${minOffset} to ${maxOffset} say ${maxOffset - minOffset}`,
  )
}

/** First and last missing offset of each gap between min and max offset. */
function gaps(scope: AuditScope, { id, minOffset, maxOffset }: QueueBounds): [number, number][] {
  return scope.db
    .prepare<unknown[], [number, number]>(
      `with stored (offset) as (
         select @min - 1 union all
         select offset from message_${id} where offset >= @min and offset < @max union all
         select @max
       ),
       step (before, offset) as (select lag(offset) over (order by offset), offset from stored)
       select before + 1, offset - 1 from step where offset > before + 1 order by offset limit ${GAPS_MAX}`,
    )
    .raw()
    .all({ min: minOffset, max: maxOffset })
}

/** Queue ids of a topic run from 0 to its number of queues. */
function checkQueueCounts(scope: AuditScope): void {
  scope.run([
    {
      invariant: 1,
      sql: `select t.name as topic, null as queueId, null as "group", null as offset,
              format('the topic has %d queues, its row says %d', count(q.id), t.queues) as detail
            from topic t left join queue q on q.topic_id = t.id and q.queue_id < t.queues
            where (@topic is null or t.name = @topic) and (@group is null or @group is not null)
            group by t.id having count(q.id) <> t.queues`,
    },
  ])
}

function checkStrayTables(
  scope: AuditScope,
  tables: ReadonlySet<number>,
  queues: readonly QueueBounds[],
): void {
  const known = new Set(queues.map(({ id }) => id))
  for (const id of tables) {
    if (!known.has(id)) scope.add({ invariant: 1, detail: `table message_${id} belongs to no queue` })
  }
}

function messageTables({ db }: AuditScope): Set<number> {
  const names = db
    .prepare<[], string>(`select name from sqlite_schema where type = 'table' and name glob 'message_[0-9]*'`)
    .pluck()
    .all()
  return new Set(names.map((name) => Number(name.slice('message_'.length))))
}

function queuesOf({ db, params }: AuditScope): QueueBounds[] {
  return db
    .prepare<unknown[], QueueBounds>(
      `select q.id, t.name as topic, q.queue_id as queueId, q.min_offset as minOffset, q.max_offset as maxOffset
       from queue q join topic t on t.id = q.topic_id
       where @topic is null or t.name = @topic order by t.name, q.queue_id`,
    )
    .all({ topic: params.topic })
}

function place({ topic, queueId }: QueueBounds): { topic: string; queueId: number } {
  return { topic, queueId }
}
