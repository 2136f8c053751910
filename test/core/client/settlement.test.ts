import { describe, expect, it } from 'vitest'
import {
  type ConsumePolicy,
  expiredDelayMs,
  mayStart,
  type Outcome,
  type Settlement,
  settle,
} from '../../../src/core/client/settlement.ts'

const policy = (change: Partial<ConsumePolicy> = {}): ConsumePolicy => ({
  mode: 'orderly',
  messageModel: 'clustering',
  autoCommit: true,
  maxReconsumeTimes: 3,
  onExhausted: 'dlq',
  suspendMs: 1000,
  suspendMaxMs: 30_000,
  ...change,
})

const success: Outcome = { kind: 'success' }
const failed: Outcome = { kind: 'failed' }

describe('settle', () => {
  const table: readonly [Outcome, attempts: number, Partial<ConsumePolicy>, Settlement['kind']][] = [
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

describe('settle with manual commit', () => {
  const table: readonly [Outcome, Settlement][] = [
    [success, { kind: 'hold' }],
    [{ kind: 'commit' }, { kind: 'commit' }],
    [{ kind: 'rollback' }, { kind: 'rollback', afterMs: 1000 }],
    [
      { kind: 'rollback', suspendMs: 40 },
      { kind: 'rollback', afterMs: 40 },
    ],
    [failed, { kind: 'retry', afterMs: 1000 }],
  ]
  it.each(table)('%j: %j', (outcome, settlement) => {
    expect(settle(outcome, 1, policy({ autoCommit: false }))).toEqual(settlement)
  })

  it('takes commit and rollback for success without it, as RocketMQ does with autoCommit', () => {
    for (const kind of ['commit', 'rollback'] as const) {
      expect(settle({ kind }, 1, policy())).toEqual({ kind: 'commit' })
    }
  })
})

describe('settle where messages are consumed concurrently', () => {
  const concurrent = (change: Partial<ConsumePolicy> = {}) =>
    policy({ mode: 'concurrent', maxReconsumeTimes: -1, suspendMs: null, ...change })

  // The delays of RocketMQ's retry schedule: levels 3 to 18.
  const schedule = [10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200]
  it.each(schedule.map((seconds, i) => [i + 1, seconds] as const))(
    'sends failure %i back with a delay of %i s',
    (attempts, seconds) => {
      expect(settle(failed, attempts, concurrent())).toEqual({ kind: 'send-back', delayMs: seconds * 1000 })
    },
  )

  it('dead-letters the 17th failure: 16 further tries are allowed', () => {
    expect(settle(failed, 17, concurrent())).toEqual({ kind: 'dead-letter', parkKeys: false })
  })

  it('takes the pause that was asked for, doubled for each further failure', () => {
    const own = concurrent({ suspendMs: 100, suspendMaxMs: 300 })
    expect([1, 2, 3, 9].map((n) => settle(failed, n, own))).toEqual(
      [100, 200, 300, 300].map((delayMs) => ({ kind: 'send-back', delayMs })),
    )
    expect(settle({ kind: 'failed', suspendMs: 7 }, 1, own)).toEqual({ kind: 'send-back', delayMs: 7 })
  })

  it('sends what ran out of time back with level 3, or with the pause that was asked for', () => {
    expect([1, 5].map((n) => expiredDelayMs(n, concurrent()))).toEqual([10_000, 10_000])
    expect(expiredDelayMs(2, concurrent({ suspendMs: 100 }))).toBe(200)
  })

  it('gives up what fails in a broadcasting group, which has no retry topic', () => {
    const all = concurrent({ messageModel: 'broadcasting' })
    expect(settle(failed, 1, all)).toEqual({ kind: 'drop' })
    expect(settle({ kind: 'rejected' }, 1, all)).toEqual({ kind: 'drop' })
  })
})

describe('settle in an orderly broadcasting group', () => {
  it('tries again in place, and gives up when no try is left', () => {
    const all = policy({ messageModel: 'broadcasting', maxReconsumeTimes: 1 })
    expect([1, 2].map((n) => settle(failed, n, all).kind)).toEqual(['retry', 'drop'])
  })
})

describe('mayStart', () => {
  it('lets a message run N + 1 times, also when crashes ended its runs', () => {
    const kinds = [0, 1, 2, 3, 4].map((attempts) => mayStart(attempts, policy()))
    expect(kinds).toEqual(['run', 'run', 'run', 'run', { kind: 'dead-letter', parkKeys: false }])
    expect(mayStart(4, policy({ onExhausted: 'block' }))).toEqual({ kind: 'block' })
    expect(mayStart(4, policy({ onExhausted: 'park-key' }))).toEqual({ kind: 'dead-letter', parkKeys: true })
    expect(mayStart(2 ** 31, policy({ maxReconsumeTimes: -1 }))).toBe('run')
  })
})
