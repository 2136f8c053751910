import { RmqError } from '../model/errors.ts'
import type { Subscription } from '../model/group.ts'

/** Which messages of a topic are wanted: by tag or by properties, not both. Default: all. */
export interface MessageFilter {
  /** A tag expression: `A || B`. */
  readonly tags?: string
  /** An SQL92 expression on properties. */
  readonly sql?: string
}

/** The filter as a subscription. INVALID_ARGUMENT when it says both. */
export function subscriptionOf(topic: string, { tags, sql }: MessageFilter): Subscription {
  if (sql === undefined) return { topic, expressionType: 'TAG', expression: tags ?? '*' }
  if (tags === undefined) return { topic, expressionType: 'SQL92', expression: sql }
  throw new RmqError('INVALID_ARGUMENT', 'tags and sql exclude each other', {
    why: 'a subscription has one expression',
    hint: "keep one of them; SQL92 knows the tag as TAGS: TAGS = 'A'",
  })
}
