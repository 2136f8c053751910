import { RmqError } from './errors.ts'

/** Tags that a subscription wants; `null` is all messages, with and without a tag. */
export type TagSet = ReadonlySet<string> | null

/**
 * Reads a TAG expression as RocketMQ's `FilterAPI`: `*` or nothing for everything, else tags separated by `||`. Among
 * tags `*` is a tag of that name, and a blank text wants no message at all. A single `|`, a `||` mistyped, is refused.
 * Throws INVALID_ARGUMENT.
 */
export function parseTagExpression(expression: string): TagSet {
  if (expression === '' || expression === '*') return null
  // Brokers compare the text with `*` as it is; that a blank one is not `*` and names no tag matches nothing there.
  if (expression.trim() === '') return new Set()
  const tags = expression
    .split('||')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  if (tags.length === 0) throw malformed(expression, 'it names no tag')
  const single = tags.find((tag) => tag.includes('|'))
  if (single !== undefined) throw malformed(expression, `${JSON.stringify(single)} contains a single |`)
  return new Set(tags)
}

/** Whether a message with this tag is wanted, by the exact text. One without a tag is wanted only by `*`. */
export function matchesTags(wanted: TagSet, tags: string | null): boolean {
  return wanted === null || (tags !== null && wanted.has(tags))
}

function malformed(expression: string, why: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', `tag expression ${JSON.stringify(expression)} is malformed`, {
    why,
    hint: "write one tag, or several as 'A || B', or '*' for everything",
    details: { expression },
  })
}
