import { SUSPEND_MS_MAX, SUSPEND_MS_MIN } from '../model/limits.ts'

/** What becomes of a message whose attempts ran out: it goes to the dead letters, or its queue waits for a person. */
export type OnExhausted = 'dlq' | 'block'

/** The rules of one consumer for heads that fail. */
export interface RetryPolicy {
  /** Further tries after the first, RocketMQ's `maxReconsumeTimes`: N means N + 1 runs. -1 is unlimited. */
  readonly maxReconsumeTimes: number
  readonly onExhausted: OnExhausted
  /** Pause after the first failure, in milliseconds. It doubles with each further one. */
  readonly suspendMs: number
  /** Longest pause, in milliseconds. */
  readonly suspendMaxMs: number
}

/** How one run of a handler ended. `cut-short`: a stop no longer waited; `fatal`: the handler cannot run at all. */
export type Outcome =
  | { readonly kind: 'success' }
  | { readonly kind: 'failed'; readonly suspendMs?: number | undefined }
  | { readonly kind: 'rejected' }
  | { readonly kind: 'cut-short' }
  | { readonly kind: 'fatal' }

export type Settlement =
  | { readonly kind: 'commit' }
  | { readonly kind: 'retry'; readonly afterMs: number }
  | { readonly kind: 'dead-letter' }
  | { readonly kind: 'block' }
  /** As if it had never been started. */
  | { readonly kind: 'release' }

/**
 * The one decision after a handler's run (RocketMQ's `processConsumeResult` and `checkReconsumeTimes`).
 * `attempts` counts the run that just ended.
 *
 * | outcome            | attempts left | ran out, dlq | ran out, block |
 * |--------------------|---------------|--------------|----------------|
 * | success            | commit        | commit       | commit         |
 * | failed             | retry         | dead-letter  | block          |
 * | rejected           | dead-letter   | dead-letter  | dead-letter    |
 * | cut-short, fatal   | release       | release      | release        |
 */
export function settle(outcome: Outcome, attempts: number, policy: RetryPolicy): Settlement {
  switch (outcome.kind) {
    case 'success':
      return { kind: 'commit' }
    case 'rejected':
      return { kind: 'dead-letter' }
    case 'cut-short':
    case 'fatal':
      return { kind: 'release' }
    case 'failed':
      if (!isExhausted(attempts, policy)) {
        return { kind: 'retry', afterMs: suspendTime(attempts, policy, outcome.suspendMs) }
      }
      return policy.onExhausted === 'dlq' ? { kind: 'dead-letter' } : { kind: 'block' }
  }
}

/** Whether a message may start once more. `attempts` counts the runs that ended or were cut by a crash. */
export function mayStart(attempts: number, policy: RetryPolicy): 'run' | 'dead-letter' | 'block' {
  if (!isExhausted(attempts, policy)) return 'run'
  return policy.onExhausted === 'dlq' ? 'dead-letter' : 'block'
}

function isExhausted(attempts: number, policy: RetryPolicy): boolean {
  return policy.maxReconsumeTimes >= 0 && attempts > policy.maxReconsumeTimes
}

/** The pause before the next try: what the handler asked for, else the back-off; within RocketMQ's 10 ms to 30 s. */
function suspendTime(attempts: number, policy: RetryPolicy, asked: number | undefined): number {
  // 2^20 suspend times are beyond any cap: the exponent is bounded so that it stays a number.
  const backOff = Math.min(policy.suspendMaxMs, policy.suspendMs * 2 ** Math.min(attempts - 1, 20))
  return Math.min(Math.max(asked ?? backOff, SUSPEND_MS_MIN), SUSPEND_MS_MAX)
}
