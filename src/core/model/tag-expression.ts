import { RmqError } from './errors.ts'

/** Tags that a subscription wants; `null` is all messages, with and without a tag. */
export type TagSet = ReadonlySet<string> | null

/**
 * Reads a TAG expression: `*` or nothing for everything, else tags separated by `||`.
 * As RocketMQ's `FilterAPI`, except that what it takes for a filter nobody can match is refused:
 * a blank text, `*` among tags, and a single `|`, which is a `||` mistyped.
 * Throws INVALID_ARGUMENT.
 */
export function parseTagExpression(expression: string): TagSet {
  if (expression === '' || expression === '*') return null
  const tags = expression
    .split('||')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  if (tags.length === 0) throw malformed(expression, 'it names no tag')
  if (tags.includes('*')) throw malformed(expression, '* stands alone: it takes everything')
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
