import { expect, it } from 'vitest'
import { offsetResetText, parsePlace } from '../../src/ui/offset-moves.ts'

const NOW = 1_700_000_000_000

it.each([
  ['earliest', { kind: 'earliest' }],
  ['latest', { kind: 'latest' }],
  ['committed', { kind: 'committed' }],
  ['120', { kind: 'offset', offset: 120 }],
  ['+10', { kind: 'after-earliest', count: 10 }],
  ['-10', { kind: 'before-latest', count: 10 }],
  ['@-15m', { kind: 'time', timestamp: NOW - 15 * 60_000 }],
  ['@2026-08-01T10:00:00Z', { kind: 'time', timestamp: Date.UTC(2026, 7, 1, 10) }],
])('reads %s', (text, spec) => {
  expect(parsePlace(text, NOW)).toEqual(spec)
})

it.each(['', 'abc', '@noon', '1.5', '--1', '9007199254740993', ' 1', 'Earliest'])('refuses %j', (text) => {
  expect(() => parsePlace(text, NOW)).toThrow(/is not an offset/)
})

it.each(['1:5', 'earliest:latest', ':5', '5:', '@-15m:@-5m'])('refuses the range %s', (text) => {
  expect(() => parsePlace(text, NOW)).toThrow(/is a range: a group is at one place/)
})

it('adds up what comes again and what is skipped', () => {
  const mq = { topic: 't', brokerName: 'embedded', queueId: 0 }
  const one = { mq, from: 5, to: 1, replayed: 1234, skipped: 0 }
  const other = { mq: { ...mq, queueId: 1 }, from: 1, to: 4, replayed: 0, skipped: 3 }
  expect(offsetResetText('g', [one, other])).toBe('2 offsets of group g (1,234 messages again, 3 skipped)')
  expect(offsetResetText('g', [{ ...one, replayed: 1 }])).toBe(
    '1 offset of group g (1 message again, 0 skipped)',
  )
})
