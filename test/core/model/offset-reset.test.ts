import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countReset } from '../../../src/core/model/offset-reset.ts'

const QUEUE = { minOffset: 0, maxOffset: 100 }

it.each([
  ['backwards', { offset: 60, ahead: [] }, 20, { replayed: 40, skipped: 0 }],
  ['forwards', { offset: 60, ahead: [] }, 100, { replayed: 0, skipped: 40 }],
  ['nowhere', { offset: 60, ahead: [] }, 60, { replayed: 0, skipped: 0 }],
  ['a group that never started', null, 30, { replayed: 0, skipped: 30 }],
  ['a group that never started, to the start', null, 0, { replayed: 0, skipped: 0 }],
  [
    'back to the committed offset, before what was finished early',
    { offset: 60, ahead: [[70, 75]] },
    60,
    { replayed: 5, skipped: 0 },
  ],
  [
    'into a range that was finished early',
    { offset: 60, ahead: [[70, 75]] },
    72,
    { replayed: 3, skipped: 10 },
  ],
  [
    'beyond a range that was finished early',
    { offset: 60, ahead: [[70, 75]] },
    80,
    { replayed: 0, skipped: 15 },
  ],
] as const)('%s', (_, done, to, expected) => {
  expect(countReset(done, QUEUE, to)).toEqual(expected)
})

it('counts nothing that retention has removed', () => {
  const queue = { minOffset: 50, maxOffset: 100 }
  expect(countReset({ offset: 20, ahead: [] }, queue, 50)).toEqual({ replayed: 0, skipped: 0 })
  expect(countReset({ offset: 80, ahead: [] }, queue, 50)).toEqual({ replayed: 30, skipped: 0 })
  expect(countReset(null, queue, 70)).toEqual({ replayed: 0, skipped: 20 })
})

it('agrees with a count message by message', () => {
  const place = fc.record({
    min: fc.nat(20),
    size: fc.nat(30),
    offset: fc.nat(50),
    flags: fc.array(fc.boolean(), { maxLength: 50 }),
    to: fc.nat(50),
  })
  fc.assert(
    fc.property(place, ({ min, size, offset, flags, to }) => {
      const max = min + size
      const inQueue = (n: number) => Math.min(Math.max(n, min), max)
      const committed = Math.min(offset, max)
      // Finished early: single offsets beyond the committed one, never the one right behind it.
      const early = flags.flatMap((flag, i) => (flag && i > committed && i < max ? [i] : []))
      const isDone = (n: number) => n < committed || early.includes(n)
      const target = inQueue(to)
      const stored = Array.from({ length: size }, (_, i) => min + i)
      const done = { offset: committed, ahead: early.map((n) => [n, n + 1] as const) }
      expect(countReset(done, { minOffset: min, maxOffset: max }, target)).toEqual({
        replayed: stored.filter((n) => isDone(n) && n >= target).length,
        skipped: stored.filter((n) => !isDone(n) && n < target).length,
      })
    }),
  )
})
