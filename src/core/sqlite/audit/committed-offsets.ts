import type { AuditScope } from './scope.ts'

const FROM = `from consumer_offset o
  join consumer_group g on g.id = o.group_id
  join queue q on q.id = o.queue_id
  join topic t on t.id = q.topic_id
  where (@topic is null or t.name = @topic) and (@group is null or g.name = @group)`
const LOCAL = FROM.replace('consumer_offset', 'broadcast_offset')

interface AheadRow {
  readonly topic: string
  readonly queueId: number
  readonly group: string
  readonly offset: number
  readonly maxOffset: number
  readonly ahead: string
}

/** Invariant 6: no group is further than its queue. That it never moves back shows only over time. */
export function checkCommittedOffsets(scope: AuditScope): void {
  const count = (from: string) =>
    scope.db.prepare<unknown[], number>(`select count(*) ${from}`).pluck().get(scope.params) ?? 0
  scope.count('offsets', count(FROM))
  scope.count('broadcastOffsets', count(LOCAL))
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
    {
      invariant: 6,
      sql: `select t.name as topic, q.queue_id as queueId, g.name as "group", o.committed_offset as offset,
              format('committed offset %d of client %s is not within 0 and the max offset %d', o.committed_offset,
                o.client_id, q.max_offset) as detail
            ${LOCAL} and o.committed_offset not between 0 and q.max_offset`,
    },
  ])
  checkAhead(scope)
}

/** What is done with beyond the committed offset lies there, within the queue, and each offset once. */
function checkAhead(scope: AuditScope): void {
  const rows = scope.db
    .prepare<unknown[], AheadRow>(
      `select t.name as topic, q.queue_id as queueId, g.name as "group", o.committed_offset as offset,
         q.max_offset as maxOffset, o.ahead ${FROM} and o.ahead is not null`,
    )
    .all(scope.params)
  scope.count('offsetsAhead', rows.length)
  for (const { maxOffset, ahead, ...place } of rows) {
    const detail = whatIsWrong(ahead, place.offset, maxOffset)
    if (detail !== undefined) scope.add({ invariant: 6, ...place, detail })
  }
}

function whatIsWrong(json: string, committed: number, maxOffset: number): string | undefined {
  const ranges = parseRanges(json)
  if (ranges === undefined) return `what is done with beyond it is no list of ranges: ${json.slice(0, 60)}`
  let end = committed + 1
  for (const [from, to] of ranges) {
    const range = `done with beyond it: ${from} to before ${to}`
    if (from >= to) return `${range}, which is no range`
    if (from <= committed) return `${range}, which begins at or below the committed offset ${committed}`
    if (from < end) return `${range}, which begins before ${end}, where the range before it ends`
    if (to > maxOffset) return `${range}, which ends above the max offset ${maxOffset}`
    end = to
  }
  return undefined
}

function parseRanges(json: string): [number, number][] | undefined {
  try {
    const ranges: unknown = JSON.parse(json)
    const isRange = (range: unknown) =>
      Array.isArray(range) && range.length === 2 && range.every((offset) => Number.isSafeInteger(offset))
    return Array.isArray(ranges) && ranges.every(isRange) ? ranges : undefined
  } catch {
    return undefined
  }
}
