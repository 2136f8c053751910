import type { Subscription } from '../model/group.ts'
import type { FilterCondition } from '../model/sql92/compile.ts'
import { parseTagExpression } from '../model/tag-expression.ts'

/** What a pull takes of the messages that it looks at: those with one of the tags, or for which the condition is true. */
export type PartialFilter = { readonly tags: readonly string[] } | { readonly condition: FilterCondition }

export const ALL = 'all'
export type RowFilter = typeof ALL | PartialFilter

/** Compiled expressions that are kept (RocketMQ `SelectorParser`: 100). */
const KNOWN_MAX = 100

/** Filters by their expressions, each read once: a consumer pulls with the same one for ever. */
export class RowFilters {
  readonly #tags = new Map<string, RowFilter>()
  readonly #conditions = new Map<string, RowFilter>()

  /** `undefined` when it has to be loaded first. INVALID_ARGUMENT when the tag expression is malformed. */
  known(subscription: Subscription | undefined): RowFilter | undefined {
    if (subscription === undefined) return ALL
    const { expressionType, expression } = subscription
    if (expressionType !== 'TAG') return this.#conditions.get(expression)
    return this.#tags.get(expression) ?? keep(this.#tags, expression, readTags(expression))
  }

  /** The same for an SQL92 filter. Its parser is only loaded where one is used. INVALID_ARGUMENT. */
  async load(subscription: Subscription | undefined): Promise<RowFilter> {
    if (subscription === undefined) return ALL
    const { expression } = subscription
    const [{ parseSql92 }, { compileSql92 }] = await Promise.all([
      import('../model/sql92/parse.ts'),
      import('../model/sql92/compile.ts'),
    ])
    const condition = compileSql92(parseSql92(expression))
    return keep(this.#conditions, expression, { condition })
  }
}

function readTags(expression: string): RowFilter {
  const tags = parseTagExpression(expression)
  return tags === null ? ALL : { tags: [...tags] }
}

function keep(filters: Map<string, RowFilter>, expression: string, filter: RowFilter): RowFilter {
  if (filters.size >= KNOWN_MAX) filters.clear()
  filters.set(expression, filter)
  return filter
}
