import { describe, expect, it } from 'vitest'
import { compareInRounds, type Measure } from '../../../../src/core/ops/bench/rounds.ts'
import { median, percentile } from '../../../../src/core/ops/bench/statistics.ts'

describe('statistics', () => {
  it.each([
    [[3], 3],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[100, 9, 8], 9],
  ])('the median of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it.each([
    [0.5, 5],
    [0.9, 9],
    [0.99, 10],
    [1, 10],
    [0, 1],
  ])('the %d share of 1 to 10 is %d', (share, expected) => {
    expect(percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share)).toBe(expected)
  })

  it('have no value of nothing', () => {
    expect(median([])).toBeNaN()
    expect(percentile([], 0.5)).toBeNaN()
  })
})

describe('rounds', () => {
  it('leave the first one out and take the median of each round’s own ratio', async () => {
    // Round 3 was disturbed on both sides: its rates are low, its ratio is not.
    const ours: Measure[] = [10, 400, 500, 50].map((count) => ({ count, ms: 1000 }))
    const raw: Measure[] = [10_000, 1000, 1000, 100].map((count) => ({ count, ms: 1000 }))
    const of = (measures: readonly Measure[]) => (round: number) => measures[round] ?? { count: 0, ms: 0 }
    expect(await compareInRounds(of(ours), of(raw), 3)).toEqual({ rate: 400, raw: 1000, ratio: 0.5 })
  })

  it('change which side goes first', async () => {
    const order: string[] = []
    const side = (name: string) => (round: number) => {
      order.push(`${name}${round}`)
      return { count: 1, ms: 1 }
    }
    await compareInRounds(side('ours'), side('raw'), 2)
    expect(order).toEqual(['raw0', 'ours0', 'ours1', 'raw1', 'raw2', 'ours2'])
  })
})
