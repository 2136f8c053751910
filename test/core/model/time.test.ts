import { describe, expect, it } from 'vitest'
import { parseTime } from '../../../src/core/model/time.ts'

const NOW = Date.UTC(2026, 7, 1, 12, 0, 0)

describe('parseTime', () => {
  it.each([
    ['now', NOW],
    ['-15m', NOW - 900_000],
    ['-0s', NOW],
    ['-7d', NOW - 604_800_000],
    ['2026-08-01T10:00:00Z', Date.UTC(2026, 7, 1, 10)],
    ['2026-08-01T10:00:00.250Z', Date.UTC(2026, 7, 1, 10, 0, 0, 250)],
    ['2026-08-01T10:00:00.123456789Z', Date.UTC(2026, 7, 1, 10, 0, 0, 123)],
    ['2026-08-01T10:00:00.5Z', Date.UTC(2026, 7, 1, 10, 0, 0, 500)],
    ['2026-08-01T10:00:00+02:00', Date.UTC(2026, 7, 1, 8)],
    ['2026-08-01 10:00:00Z', Date.UTC(2026, 7, 1, 10)],
    ['2026-08-01t10:00z', Date.UTC(2026, 7, 1, 10)],
    ['1785578400', 1_785_578_400_000],
    ['1785578400123', 1_785_578_400_123],
    ['0', 0],
  ])('%s', (text, timestamp) => {
    expect(parseTime(text, NOW)).toBe(timestamp)
  })

  it('takes times without a zone as local ones', () => {
    expect(parseTime('2026-08-01', NOW)).toBe(new Date(2026, 7, 1).getTime())
    expect(parseTime('2026-08-01#10:20:30:400', NOW)).toBe(new Date(2026, 7, 1, 10, 20, 30, 400).getTime())
  })

  it.each([
    '',
    'yesterday',
    '15m',
    '+15m',
    '-15',
    '-now',
    '2026-02-30',
    '2026-13-01',
    '2026-8-1',
    '2026-02-30T10:00:00Z',
    '2026-08-01T25:00:00Z',
    '2026-08-01T10:00:00',
    '2026-08-01T10Z',
    '2026-08-01#10:00:00',
    '2026-08-01#24:00:00:000',
    '1e9',
    ' now',
  ])('refuses %j', (text) => {
    expect(() => parseTime(text, NOW)).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('says that the zone is missing', () => {
    expect(() => parseTime('2026-08-01T10:00:00', NOW)).toThrowError(
      expect.objectContaining({ hint: expect.stringContaining('zone') }),
    )
  })
})
