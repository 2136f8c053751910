import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration } from '../../../src/core/model/duration.ts'

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['0s', 0],
    ['007s', 7_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '',
    '10',
    's',
    '1.5s',
    '-5s',
    '+5s',
    '1 s',
    '5 min',
    '10S',
    '1h30m',
    '10s ',
    '1e3s',
    '999999999999999d',
  ])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })

  it('asks for the unit when only that is missing', () => {
    expect(() => parseDuration('10')).toThrowError(expect.objectContaining({ hint: 'say 10s or 10ms' }))
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [10_000, '10s'],
    [90_000, '90s'],
    [3_600_000, '1h'],
    [604_800_000, '7d'],
    [1_001, '1001ms'],
  ])('%d is %s, and is read back as the same', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
    expect(parseDuration(text)).toBe(ms)
  })
})
