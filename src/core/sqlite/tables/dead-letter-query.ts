import type Database from 'better-sqlite3'
import type { DeadLetterFilter } from '../../model/dead-letter.ts'
import { parseTagExpression } from '../../model/tag-expression.ts'

/** Where a page ended: the order of dead letters, with the id for topics that were made anew under one name. */
export type DeadLetterPlace = readonly [topic: string, queueId: number, offset: number, id: number]

/** What a filter needs to see of a dead letter before its body is read. */
export interface DeadLetterGlance {
  readonly id: number
  readonly groupId: number
  readonly topic: string
  readonly queueId: number
  readonly offset: number
  readonly lastError: string | null
}

type Params = Record<string, string | number>

const GLANCE = `id, group_id as groupId, topic, queue_id as queueId, offset, last_error as lastError`

/** Dead letters in the order of topic, queue and offset, selected by what SQL can tell. Reads no bodies. */
export class DeadLetterQuery {
  readonly #db: Database.Database
  readonly #where: string
  readonly #params: Params

  /** All groups without `groupId`. `errorMatch` is not for SQL and not looked at here. */
  constructor(db: Database.Database, groupId: number | undefined, filter: DeadLetterFilter) {
    this.#db = db
    const { where, params } = conditions(groupId, filter)
    this.#where = where
    this.#params = params
  }

  page(after: DeadLetterPlace | undefined, limit: number): DeadLetterGlance[] {
    const from =
      after === undefined ? '' : 'and (topic, queue_id, offset, id) > (@topicA, @queueA, @offsetA, @idA)'
    const [topicA, queueA, offsetA, idA] = after ?? ['', 0, 0, 0]
    return this.#db
      .prepare<[Params], DeadLetterGlance>(
        `select ${GLANCE} from dead_letter where ${this.#where} ${from}
         order by topic, queue_id, offset, id limit @limit`,
      )
      .all({ ...this.#params, ...(after === undefined ? {} : { topicA, queueA, offsetA, idA }), limit })
  }

  /** How many, by group id. */
  count(): Map<number, number> {
    const rows = this.#db
      .prepare<[Params], [number, number]>(
        `select group_id, count(*) from dead_letter where ${this.#where} group by group_id`,
      )
      .raw()
      .all(this.#params)
    return new Map(rows)
  }

  /** All that match, one at a time. */
  each(): IterableIterator<DeadLetterGlance> {
    return this.#db
      .prepare<[Params], DeadLetterGlance>(`select ${GLANCE} from dead_letter where ${this.#where}`)
      .iterate(this.#params)
  }
}

function conditions(
  groupId: number | undefined,
  filter: DeadLetterFilter,
): { where: string; params: Params } {
  const terms = ['state in (select value from json_each(@states))']
  const params: Params = { states: JSON.stringify(filter.states ?? ['dead', 'parked']) }
  const add = (term: string, name: string, value: string | number | undefined) => {
    if (value === undefined) return
    terms.push(term)
    params[name] = value
  }
  add('group_id = @groupId', 'groupId', groupId)
  add(
    'msg_id in (select value from json_each(@msgIds))',
    'msgIds',
    filter.msgIds && JSON.stringify(filter.msgIds),
  )
  add('topic = @topic', 'topic', filter.topic)
  add('key is @key', 'key', filter.key)
  add('key is not @notKey', 'notKey', filter.notKey)
  add(
    'tags in (select value from json_each(@tags))',
    'tags',
    filter.tags === undefined ? undefined : tagSet(filter.tags),
  )
  add('dead_lettered_at >= @since', 'since', filter.since)
  add('dead_lettered_at < @until', 'until', filter.until)
  return { where: terms.join(' and '), params }
}

/** The tags of a TAG expression as JSON; `undefined` when it takes everything. */
function tagSet(expression: string): string | undefined {
  const tags = parseTagExpression(expression)
  return tags === null ? undefined : JSON.stringify([...tags])
}
