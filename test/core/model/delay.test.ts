import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  checkDelay,
  DELAY_MS_MAX,
  DELIVER_AT_MAX,
  type Delay,
  delayLevelMs,
  dueAt,
  retryDelayMs,
} from '../../../src/core/model/delay.ts'
import { checkMessage } from '../../../src/core/model/message-check.ts'
import { messageSchema } from '../../../src/core/model/schemas.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const NOW = 1_785_592_800_000

/** RocketMQ's table, "1s 5s 10s 30s 1m 2m … 2h". */
const LEVELS = [
  [1, SECOND],
  [2, 5 * SECOND],
  [3, 10 * SECOND],
  [4, 30 * SECOND],
  [5, MINUTE],
  [6, 2 * MINUTE],
  [7, 3 * MINUTE],
  [8, 4 * MINUTE],
  [9, 5 * MINUTE],
  [10, 6 * MINUTE],
  [11, 7 * MINUTE],
  [12, 8 * MINUTE],
  [13, 9 * MINUTE],
  [14, 10 * MINUTE],
  [15, 20 * MINUTE],
  [16, 30 * MINUTE],
  [17, HOUR],
  [18, 2 * HOUR],
  [19, 2 * HOUR],
  [1000, 2 * HOUR],
] as const

test.each(LEVELS)('level %i waits %i ms', (level, ms) => {
  expect(delayLevelMs(level)).toBe(ms)
  expect(dueAt({ delayLevel: level }, NOW)).toBe(NOW + ms)
})

/** Seconds from the first failure to the n-th retry. */
const CUMULATIVE_SECONDS = [
  10, 40, 100, 220, 400, 640, 940, 1300, 1720, 2200, 2740, 3340, 4540, 6340, 9940, 17_140,
]

test('16 retries take 4 h 45 min 40 s in all, and later ones wait as the last did', () => {
  let sum = 0
  for (const [reconsumeTimes, seconds] of CUMULATIVE_SECONDS.entries()) {
    sum += retryDelayMs(reconsumeTimes)
    expect(sum).toBe(seconds * SECOND)
  }
  expect(retryDelayMs(16)).toBe(2 * HOUR)
  expect(retryDelayMs(1000)).toBe(2 * HOUR)
})

describe('when a message is due', () => {
  it.each([
    [{ delayMs: 1 }, NOW + 1],
    [{ delayMs: 7 * 24 * HOUR }, NOW + 7 * 24 * HOUR],
    [{ deliverAt: NOW + 1 }, NOW + 1],
    [{}, undefined],
    [{ delayMs: 0 }, undefined],
    [{ deliverAt: NOW }, undefined],
    [{ deliverAt: NOW - 1 }, undefined],
    [{ deliverAt: 0 }, undefined],
    [{ deliverAt: -1 }, undefined],
  ] as const)('%o', (delay, due) => {
    expect(dueAt(delay, NOW)).toBe(due)
  })
})

describe('a delay is refused', () => {
  const refused: readonly (readonly [Delay, RegExp])[] = [
    [{ delayLevel: 0 }, /delay level 0/],
    [{ delayLevel: -1 }, /delay level -1/],
    [{ delayLevel: 1.5 }, /delay level 1.5/],
    [{ delayLevel: Number.NaN }, /delay level NaN/],
    [{ delayMs: -1 }, /a delay of -1 ms/],
    [{ delayMs: 0.5 }, /a delay of 0.5 ms/],
    [{ delayMs: Number.POSITIVE_INFINITY }, /a delay of Infinity ms/],
    [{ delayMs: DELAY_MS_MAX + 1 }, /a delay of/],
    [{ deliverAt: Number.NaN }, /NaN is no time/],
    [{ deliverAt: NOW + 0.5 }, /is no time/],
    [{ deliverAt: DELIVER_AT_MAX + 1 }, /is no time/],
    [{ delayLevel: 1, delayMs: 1 }, /delayLevel and delayMs exclude each other/],
    [{ delayMs: 1, deliverAt: NOW }, /delayMs and deliverAt exclude each other/],
    [{ delayLevel: 1, delayMs: 1, deliverAt: NOW }, /delayLevel and delayMs and deliverAt exclude/],
  ]
  it.each(refused)('%o', (delay, message) => {
    const error = expect.objectContaining({
      code: 'INVALID_MESSAGE',
      message: expect.stringMatching(message),
      why: expect.any(String),
      hint: expect.any(String),
    })
    expect(() => checkDelay(delay)).toThrow(error)
    expect(() => dueAt(delay, NOW)).toThrow(error)
    expect(() => checkMessage({ topic: 't', body: '', ...defined(delay) }, 1)).toThrow(error)
  })
})

test('the schema and the check by hand say the same of every delay', () => {
  const level = fc.oneof(fc.integer({ min: -2, max: 30 }), fc.double())
  const ms = fc.oneof(fc.integer(), fc.constantFrom(DELAY_MS_MAX, DELAY_MS_MAX + 1), fc.double())
  const at = fc.oneof(fc.integer(), fc.constantFrom(DELIVER_AT_MAX, DELIVER_AT_MAX + 1, NOW), fc.double())
  const delays = fc.record({ delayLevel: level, delayMs: ms, deliverAt: at }, { requiredKeys: [] })
  fc.assert(
    fc.property(delays, (delay) => {
      const message = { topic: 't', body: 'b', ...delay }
      expect(messageSchema.safeParse(message).success).toBe(isAllowed(delay))
    }),
    { numRuns: 500 },
  )
})

function isAllowed(delay: Delay): boolean {
  try {
    checkDelay(delay)
    return true
  } catch {
    return false
  }
}

function defined({ delayLevel, delayMs, deliverAt }: Delay) {
  return {
    ...(delayLevel !== undefined && { delayLevel }),
    ...(delayMs !== undefined && { delayMs }),
    ...(deliverAt !== undefined && { deliverAt }),
  }
}
