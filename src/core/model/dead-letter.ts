import type { MessageExt } from './message.ts'

/**
 * `dead`: its handler failed to the end. `parked`: it followed a dead one of its key.
 * `replayed`: sent back once more; it is done when `settledAt` is set, in the redelivery lane until then.
 */
export type DeadLetterState = 'dead' | 'parked' | 'replayed'

/** The whole original, and how it died. */
export interface DeadLetter {
  /** Identity within the broker. */
  readonly id: number
  readonly group: string
  /** The original: topic, queue and offset are those it came from. */
  readonly message: MessageExt
  readonly attempts: number
  readonly lastError: string | null
  readonly firstFailedAt: number | null
  readonly deadLetteredAt: number
  readonly state: DeadLetterState
  /** How often it was replayed. */
  readonly replays: number
  readonly replayedAt: number | null
  readonly settledAt: number | null
  /** When a reset of offsets brought its original round again; `null`: none did since it died. */
  readonly resetAt: number | null
}

/** Which dead letters are meant. All conditions hold at once; an empty filter means all. */
export interface DeadLetterFilter {
  readonly msgIds?: readonly string[]
  readonly topic?: string
  readonly key?: string
  readonly notKey?: string
  readonly tags?: string
  /** When it was dead-lettered: from `since`, before `until`; milliseconds since the epoch. */
  readonly since?: number
  readonly until?: number
  /** A regular expression on the last error. */
  readonly errorMatch?: string
  /** Default: dead and parked. */
  readonly states?: readonly DeadLetterState[]
}

/** What became of one dead letter in a replay. */
export type ReplayOutcome =
  | {
      readonly status: 'replayed'
      readonly topic: string
      readonly queueId: number
      readonly queueOffset: number
    }
  | { readonly status: 'skipped'; readonly reason: string }
