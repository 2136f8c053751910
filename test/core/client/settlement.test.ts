import { describe, expect, it } from 'vitest'
import {
  mayStart,
  type Outcome,
  type RetryPolicy,
  type Settlement,
  settle,
} from '../../../src/core/client/settlement.ts'

const policy = (change: Partial<RetryPolicy> = {}): RetryPolicy => ({
  maxReconsumeTimes: 3,
  onExhausted: 'dlq',
  suspendMs: 1000,
  suspendMaxMs: 30_000,
  ...change,
})

const success: Outcome = { kind: 'success' }
const failed: Outcome = { kind: 'failed' }

describe('settle', () => {
  const table: readonly [Outcome, attempts: number, Partial<RetryPolicy>, Settlement['kind']][] = [
    [success, 1, {}, 'commit'],
    [success, 4, {}, 'commit'],
    [failed, 1, {}, 'retry'],
    [failed, 3, {}, 'retry'],
    // maxReconsumeTimes 3: three further tries after the first, so the fourth failure is the last.
    [failed, 4, {}, 'dead-letter'],
    [failed, 4, { onExhausted: 'block' }, 'block'],
    [failed, 1, { maxReconsumeTimes: 0 }, 'dead-letter'],
    [failed, 1_000_000, { maxReconsumeTimes: -1 }, 'retry'],
    [{ kind: 'rejected' }, 1, {}, 'dead-letter'],
    [{ kind: 'rejected' }, 1, { onExhausted: 'block', maxReconsumeTimes: -1 }, 'dead-letter'],
    [{ kind: 'cut-short' }, 4, {}, 'release'],
    [{ kind: 'fatal' }, 4, {}, 'release'],
  ]
  it.each(table)('%j after %i attempts under %j: %s', (outcome, attempts, change, kind) => {
    expect(settle(outcome, attempts, policy(change)).kind).toBe(kind)
  })

  it('doubles the pause up to the cap', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((n) => settle(failed, n, policy({ maxReconsumeTimes: -1 })))
    expect(pauses).toEqual(
      [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map((afterMs) => ({ kind: 'retry', afterMs })),
    )
  })

  it("takes the handler's own pause, within RocketMQ's 10 ms to 30 s", () => {
    const asked = (suspendMs: number) =>
      settle({ kind: 'failed', suspendMs }, 5, policy({ maxReconsumeTimes: -1 }))
    expect(asked(250)).toEqual({ kind: 'retry', afterMs: 250 })
    expect(asked(0)).toEqual({ kind: 'retry', afterMs: 10 })
    expect(asked(3_600_000)).toEqual({ kind: 'retry', afterMs: 30_000 })
  })

  it('stays a finite pause after any number of attempts', () => {
    expect(settle(failed, 2 ** 31, policy({ maxReconsumeTimes: -1 }))).toEqual({
      kind: 'retry',
      afterMs: 30_000,
    })
  })
})

describe('mayStart', () => {
  it('lets a message run N + 1 times, also when crashes ended its runs', () => {
    expect([0, 1, 2, 3, 4].map((attempts) => mayStart(attempts, policy()))).toEqual([
      'run',
      'run',
      'run',
      'run',
      'dead-letter',
    ])
    expect(mayStart(4, policy({ onExhausted: 'block' }))).toBe('block')
    expect(mayStart(2 ** 31, policy({ maxReconsumeTimes: -1 }))).toBe('run')
  })
})
