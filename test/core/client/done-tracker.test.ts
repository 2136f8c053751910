import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DoneTracker } from '../../../src/core/client/done-tracker.ts'

function tracker(offsets: readonly number[], pulledTo: number): DoneTracker {
  const all = new DoneTracker()
  for (const offset of offsets) all.put(offset, false)
  all.pulled(pulledTo)
  return all
}

describe('DoneTracker', () => {
  it('commits the smallest offset that is not done with, as RocketMQ removeMessage answers', () => {
    const all = tracker([0, 1, 2, 3], 4)
    expect(all.committed).toBe(0)
    all.done(2)
    expect(all.committed).toBe(0)
    all.done(0)
    expect(all.committed).toBe(1)
    all.done(1)
    expect(all.committed).toBe(3)
    all.done(3)
    expect(all.committed).toBe(4)
  })

  it('says what is done with beyond it, filtered messages between included', () => {
    const all = tracker([0, 3, 5, 8, 9], 20)
    all.done(3)
    expect(all.ahead).toEqual([[3, 5]])
    all.done(5)
    expect(all.ahead).toEqual([[3, 8]])
    all.done(9)
    expect(all.ahead).toEqual([
      [3, 8],
      [9, 20],
    ])
  })

  it('never commits past an unfinished message, and forgets none that is done, in any order', () => {
    const run = fc.record({
      gaps: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 300 }),
      seed: fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
    })
    fc.assert(
      fc.property(run, ({ gaps, seed }) => {
        const offsets: number[] = []
        for (const gap of gaps) offsets.push((offsets.at(-1) ?? -1) + gap)
        const end = (offsets.at(-1) ?? 0) + 3
        const all = tracker(offsets, end)
        const open = new Set(offsets)
        const order = [...offsets].sort(() => (seed.next().value as number) - 0.5)
        for (const offset of order) {
          all.done(offset)
          open.delete(offset)
          const first = offsets.find((each) => open.has(each)) ?? end
          expect(all.committed).toBe(first)
          const isAhead = (each: number) => all.ahead.some(([from, to]) => each >= from && each < to)
          for (const each of offsets) expect(isAhead(each)).toBe(each > first && !open.has(each))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('goes on at another offset', () => {
    const all = tracker([0, 1], 2)
    all.clearTo(100)
    expect(all.committed).toBe(100)
    expect(all.ahead).toEqual([])
    all.put(100, false)
    expect(all.committed).toBe(100)
  })
})
