import { formatDuration } from './duration.ts'
import { RmqError } from './errors.ts'

const S = 1000
const M = 60 * S
const H = 60 * M

/** Delays of RocketMQ's levels 1 to 18, in milliseconds (`MessageStoreConfig.messageDelayLevel`). */
export const DELAY_LEVELS_MS = [
  S,
  5 * S,
  10 * S,
  30 * S,
  M,
  2 * M,
  3 * M,
  4 * M,
  5 * M,
  6 * M,
  7 * M,
  8 * M,
  9 * M,
  10 * M,
  20 * M,
  30 * M,
  H,
  2 * H,
] as const
export const DELAY_LEVEL_MAX = DELAY_LEVELS_MS.length
/** Ten years: beyond it a delay is a mistake in its unit. */
export const DELAY_MS_MAX = 10 * 365 * 24 * H
/** The year 2286: what is beyond it counts microseconds. */
export const DELIVER_AT_MAX = 1e13
/** The level of a first retry; each further one is a level higher. */
const RETRY_LEVEL_FIRST = 3

/** Milliseconds of a level; a level above the last one is the last one, as at the broker. */
export function delayLevelMs(level: number): number {
  return DELAY_LEVELS_MS[Math.min(level, DELAY_LEVEL_MAX) - 1] ?? 0
}

/** How long a failed message waits in the retry topic; `reconsumeTimes` as before this failure, 0 for the first. */
export function retryDelayMs(reconsumeTimes: number): number {
  return delayLevelMs(RETRY_LEVEL_FIRST + reconsumeTimes)
}

/** The three ways to say when a message comes; at most one of them. */
export interface Delay {
  readonly delayLevel?: number | undefined
  readonly delayMs?: number | undefined
  readonly deliverAt?: number | undefined
}

/** Names of those that are said. */
export function delaysSaid({ delayLevel, delayMs, deliverAt }: Delay): readonly string[] {
  const all = Object.entries({ delayLevel, delayMs, deliverAt })
  return all.filter(([, value]) => value !== undefined).map(([name]) => name)
}

export function isDelayed({ delayLevel, delayMs, deliverAt }: Delay): boolean {
  return delayLevel !== undefined || delayMs !== undefined || deliverAt !== undefined
}

/**
 * When a message that is stored at `storedAt` is due, both in milliseconds since the epoch. `undefined`: at once, also
 * where the time has passed (as RocketMQ's timers). INVALID_MESSAGE.
 */
export function dueAt(delay: Delay, storedAt: number): number | undefined {
  checkDelay(delay)
  const { delayLevel, delayMs, deliverAt } = delay
  const wait = delayLevel === undefined ? delayMs : delayLevelMs(delayLevel)
  const at = wait === undefined ? deliverAt : storedAt + wait
  return at !== undefined && at > storedAt ? at : undefined
}

/** INVALID_MESSAGE unless a message may be delayed so. */
export function checkDelay(delay: Delay): void {
  const { delayLevel, delayMs, deliverAt } = delay
  const said = delaysSaid(delay)
  if (said.length > 1) {
    throw invalid(
      `${said.join(' and ')} exclude each other`,
      'a message comes at one time',
      'keep one of them',
    )
  }
  if (delayLevel !== undefined && !(Number.isSafeInteger(delayLevel) && delayLevel >= 1)) {
    throw invalid(
      `delay level ${delayLevel} is not allowed`,
      `levels are 1 to ${DELAY_LEVEL_MAX}, 1 s to 2 h; a larger one counts as ${DELAY_LEVEL_MAX}`,
      'use a level, or a delay of any length',
    )
  }
  if (delayMs !== undefined && !(Number.isSafeInteger(delayMs) && delayMs >= 0 && delayMs <= DELAY_MS_MAX)) {
    throw invalid(
      `a delay of ${delayMs} ms is not allowed`,
      `it is a whole number of milliseconds, 10 years (${formatDuration(DELAY_MS_MAX)}) at most`,
      'use a delay from 0ms on, or a time to deliver at',
    )
  }
  if (deliverAt !== undefined && !(Number.isSafeInteger(deliverAt) && deliverAt <= DELIVER_AT_MAX)) {
    throw invalid(
      `${deliverAt} is no time to deliver at`,
      `it is a whole number of milliseconds since the epoch, up to ${DELIVER_AT_MAX}`,
      'correct it',
    )
  }
}

function invalid(what: string, why: string, hint: string): RmqError {
  return new RmqError('INVALID_MESSAGE', what, { why, hint })
}
