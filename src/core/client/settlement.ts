import { delayLevelMs, retryDelayMs } from '../model/delay.ts'
import type { ConsumeMode, MessageModel } from '../model/group.ts'
import { CONCURRENT_RECONSUME_TIMES_MAX, SUSPEND_MS_MAX, SUSPEND_MS_MIN } from '../model/limits.ts'

/**
 * What becomes of a message whose attempts ran out: it goes to the dead letters, or its queue (its key, where keys
 * run beside each other) waits for a person, or it goes to the dead letters and its key's later messages follow it.
 */
export const ON_EXHAUSTED = ['dlq', 'block', 'park-key'] as const
export type OnExhausted = (typeof ON_EXHAUSTED)[number]

/** The rules of one consumer for what its handler answers. */
export interface ConsumePolicy {
  readonly mode: ConsumeMode
  readonly messageModel: MessageModel
  /** False: a batch that succeeded is committed by a later `commit` (RocketMQ `autoCommit`). Orderly only. */
  readonly autoCommit: boolean
  /** Further tries after the first, RocketMQ's `maxReconsumeTimes`: N means N + 1 runs. -1 is RocketMQ's default. */
  readonly maxReconsumeTimes: number
  readonly onExhausted: OnExhausted
  /** Pause after the first failure, in milliseconds; it doubles. `null`: RocketMQ's delay levels (concurrent only). */
  readonly suspendMs: number | null
  /** Longest pause, in milliseconds. */
  readonly suspendMaxMs: number
}

/** How one run of a handler ended. `cut-short`: a stop no longer waited; `fatal`: the handler cannot run at all. */
export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'rollback'; readonly suspendMs?: number | undefined }
  | { readonly kind: 'failed'; readonly suspendMs?: number | undefined }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'cut-short' }
  | { readonly kind: 'fatal' }

export type Settlement =
  | { readonly kind: 'commit' }
  /** Done, and committed by a later one. */
  | { readonly kind: 'hold' }
  /** Everything since the last commit comes again. */
  | { readonly kind: 'rollback'; readonly afterMs: number }
  /** It stays at its place, and is tried again there. */
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** It comes again through the retry topic. */
  | { readonly kind: 'send-back'; readonly delayMs: number }
  | { readonly kind: 'dead-letter'; readonly parkKeys: boolean }
  /** It follows the dead letter of its key. */
  | { readonly kind: 'park' }
  /** Given up: a broadcasting group has no dead letters. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'block' }
  /** As if it had never been started. */
  | { readonly kind: 'release' }

/**
 * The one decision after a handler's run (RocketMQ's two `processConsumeResult`, and `checkReconsumeTimes`).
 * `attempts` counts the run that just ended. Where a cell says exhausted, see `exhausted`.
 *
 * | outcome          | orderly               | orderly, manual commit | concurrent              |
 * |------------------|-----------------------|------------------------|-------------------------|
 * | success          | commit                | hold                   | commit                  |
 * | commit           | commit                | commit                 | commit                  |
 * | rollback         | commit                | rollback               | commit                  |
 * | failed           | retry, or exhausted   | retry, or exhausted    | send-back, or exhausted |
 * | rejected         | dead-letter, or drop  | dead-letter, or drop   | dead-letter, or drop    |
 * | cut-short, fatal | release               | release                | release                 |
 *
 * A broadcasting group has neither a retry topic nor dead letters: there a concurrent failure is dropped.
 */
export function settle(outcome: Outcome, attempts: number, policy: ConsumePolicy): Settlement {
  switch (outcome.kind) {
    case 'success':
      return { kind: policy.autoCommit ? 'commit' : 'hold' }
    case 'commit':
      return { kind: 'commit' }
    case 'rollback':
      if (policy.autoCommit) return { kind: 'commit' }
      return { kind: 'rollback', afterMs: suspendTime(1, policy, outcome.suspendMs) }
    case 'rejected':
      return policy.messageModel === 'broadcasting'
        ? { kind: 'drop' }
        : { kind: 'dead-letter', parkKeys: policy.onExhausted === 'park-key' }
    case 'cut-short':
    case 'fatal':
      return { kind: 'release' }
    case 'failed':
      return isExhausted(attempts, policy) ? exhausted(policy) : again(attempts, policy, outcome.suspendMs)
  }
}

/** Whether a message may start once more. `attempts` counts the runs that ended or were cut by a crash. */
export function mayStart(attempts: number, policy: ConsumePolicy): 'run' | Settlement {
  return isExhausted(attempts, policy) ? exhausted(policy) : 'run'
}

/**
 * The delay in the retry topic of a message that ran out of time: where nothing else was asked for, RocketMQ's, which
 * is level 3 whatever the attempt.
 */
export function expiredDelayMs(attempts: number, policy: ConsumePolicy): number {
  return policy.suspendMs === null ? delayLevelMs(EXPIRED_DELAY_LEVEL) : backOff(attempts, policy)
}

/** The further tries that a policy allows; Infinity for no bound. */
export function reconsumeTimesMax({ maxReconsumeTimes, mode }: ConsumePolicy): number {
  if (maxReconsumeTimes >= 0) return maxReconsumeTimes
  return mode === 'concurrent' ? CONCURRENT_RECONSUME_TIMES_MAX : Number.POSITIVE_INFINITY
}

function again(attempts: number, policy: ConsumePolicy, asked: number | undefined): Settlement {
  if (policy.mode === 'orderly') return { kind: 'retry', afterMs: suspendTime(attempts, policy, asked) }
  if (policy.messageModel === 'broadcasting') return { kind: 'drop' }
  return { kind: 'send-back', delayMs: asked ?? delayTime(attempts, policy) }
}

function exhausted({ messageModel, mode, onExhausted }: ConsumePolicy): Settlement {
  if (messageModel === 'broadcasting') return { kind: 'drop' }
  if (mode === 'orderly' && onExhausted === 'block') return { kind: 'block' }
  return { kind: 'dead-letter', parkKeys: onExhausted === 'park-key' }
}

function isExhausted(attempts: number, policy: ConsumePolicy): boolean {
  return attempts > reconsumeTimesMax(policy)
}

/** The pause before the next try: what the handler asked for, else the back-off; within RocketMQ's 10 ms to 30 s. */
function suspendTime(attempts: number, policy: ConsumePolicy, asked: number | undefined): number {
  return Math.min(Math.max(asked ?? backOff(attempts, policy), SUSPEND_MS_MIN), SUSPEND_MS_MAX)
}

/** The delay in the retry topic: level 3 for the first retry, one more for each further one. */
function delayTime(attempts: number, policy: ConsumePolicy): number {
  return policy.suspendMs === null ? retryDelayMs(attempts - 1) : backOff(attempts, policy)
}

function backOff(attempts: number, { suspendMs, suspendMaxMs }: ConsumePolicy): number {
  // 2^20 suspend times are beyond any cap: the exponent is bounded so that it stays a number.
  return Math.min(suspendMaxMs, (suspendMs ?? 0) * 2 ** Math.min(attempts - 1, 20))
}

const EXPIRED_DELAY_LEVEL = 3
