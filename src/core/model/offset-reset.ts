import type { Done } from './done-ranges.ts'

/** What moving a group to an offset does to the messages of one queue. */
export interface ResetCount {
  /** Messages that the group was done with and that come again. */
  readonly replayed: number
  /** Messages that the group was not done with and that it will never get. */
  readonly skipped: number
}

/**
 * Counts what a reset to `to` brings back and skips. `done` is how far the group was, `null` where it had not
 * started: then it would have begun at the oldest message. What retention has removed does not come again.
 */
export function countReset(
  done: Done | null,
  { minOffset, maxOffset }: { readonly minOffset: number; readonly maxOffset: number },
  to: number,
): ResetCount {
  const start = Math.min(Math.max(done?.offset ?? 0, minOffset), maxOffset)
  let replayed = Math.max(0, start - Math.max(to, minOffset))
  let skipped = Math.max(0, to - start)
  for (const [from, end] of done?.ahead ?? []) {
    const within = Math.max(from, start)
    replayed += Math.max(0, end - Math.max(within, to))
    skipped -= Math.max(0, Math.min(end, to) - within)
  }
  return { replayed, skipped }
}
