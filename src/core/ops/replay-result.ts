import type { DeadLetter } from '../model/dead-letter.ts'

export type ReplayStatus = 'replayed' | 'skipped' | 'failed' | 'would-replay'

/** What became of one dead letter. Topic, queue and offset are where it went, or would go; `null` where nobody knows. */
export interface ReplayResult {
  readonly msgId: string
  readonly status: ReplayStatus
  /** Why it was skipped or failed. */
  readonly reason: string | null
  readonly topic: string | null
  readonly queueId: number | null
  readonly queueOffset: number | null
}

/** `matched` = `replayed` + `skipped` + `failed` + `remaining`; in a dry run `replayed` counts what would be. */
export interface ReplaySummary {
  /** Dead letters that the filter selects, and ids asked for that are not among them. */
  readonly matched: number
  readonly replayed: number
  readonly skipped: number
  readonly failed: number
  /** Not looked at, because of the limit or an interruption. */
  readonly remaining: number
  /** The limit left some over. */
  readonly truncated: boolean
  /** The signal left some over. */
  readonly interrupted: boolean
}

/** A result that moved nothing: it names the place that the dead letter came from. */
export function unmoved(letter: DeadLetter, status: 'skipped' | 'failed', reason: string): ReplayResult {
  const { msgId, topic, queueId, queueOffset } = letter.message
  return { msgId, status, reason, topic, queueId, queueOffset }
}
