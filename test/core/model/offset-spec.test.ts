import { describe, expect, it } from 'vitest'
import {
  type OffsetSpec,
  parseOffsetRange,
  parseOffsetSpec,
  resolveOffset,
} from '../../../src/core/model/offset-spec.ts'

const NOW = Date.UTC(2026, 7, 1, 12)
const at = (timestamp: number): OffsetSpec => ({ kind: 'time', timestamp })
const TEN = Date.UTC(2026, 7, 1, 10)
const ELEVEN = Date.UTC(2026, 7, 1, 11)

describe('parseOffsetSpec', () => {
  it.each<[string, OffsetSpec]>([
    ['earliest', { kind: 'earliest' }],
    ['latest', { kind: 'latest' }],
    ['committed', { kind: 'committed' }],
    ['120', { kind: 'offset', offset: 120 }],
    ['0', { kind: 'offset', offset: 0 }],
    ['+10', { kind: 'after-earliest', count: 10 }],
    ['-10', { kind: 'before-latest', count: 10 }],
    ['@-15m', at(NOW - 900_000)],
    ['@2026-08-01T10:00:00Z', at(TEN)],
    ['@1785578400', at(1_785_578_400_000)],
  ])('%s', (text, spec) => {
    expect(parseOffsetSpec(text, NOW)).toEqual(spec)
  })

  it.each(['', 'abc', 'Latest', '1.5', '--1', '+', '@', '@soon', '9007199254740993', '10:20', '0x10', ' 1'])(
    'refuses %j',
    (text) => {
      expect(() => parseOffsetSpec(text, NOW)).toThrowError(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
    },
  )
})

describe('parseOffsetRange', () => {
  it.each<[string, OffsetSpec, OffsetSpec | null]>([
    ['120', { kind: 'offset', offset: 120 }, null],
    ['100:120', { kind: 'offset', offset: 100 }, { kind: 'offset', offset: 120 }],
    ['-10:latest', { kind: 'before-latest', count: 10 }, { kind: 'latest' }],
    [':120', { kind: 'earliest' }, { kind: 'offset', offset: 120 }],
    ['120:', { kind: 'offset', offset: 120 }, { kind: 'latest' }],
    ['@2026-08-01T10:00:00Z:@2026-08-01T11:00:00Z', at(TEN), at(ELEVEN)],
    ['@2026-08-01T12:00:00+02:00:@-1h', at(TEN), at(ELEVEN)],
    ['@2026-08-01T12:00+02:00:120', at(TEN), { kind: 'offset', offset: 120 }],
    ['@2026-08-01T10:00:00Z', at(TEN), null],
    ['@2026-08-01#10:00:00:000', at(new Date(2026, 7, 1, 10).getTime()), null],
    ['@2026-08-01#10:00:00:000:latest', at(new Date(2026, 7, 1, 10).getTime()), { kind: 'latest' }],
  ])('%s', (text, from, to) => {
    expect(parseOffsetRange(text, NOW)).toEqual({ from, to })
  })

  it.each(['a:b', '1:2:3', '@2026-08-01T10:00:00:5'])('refuses %j', (text) => {
    expect(() => parseOffsetRange(text, NOW)).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})

describe('resolveOffset', () => {
  const stats = {
    mq: { topic: 't', brokerName: 'b', queueId: 0 },
    minOffset: 20,
    maxOffset: 100,
    scheduled: 0,
  }
  const searchOffset = async (timestamp: number) => timestamp / 1000
  const resolve = (text: string, committed?: number | null) =>
    resolveOffset(parseOffsetSpec(text, NOW), {
      stats,
      searchOffset,
      ...(committed === undefined ? undefined : { committed }),
    })

  it.each([
    ['earliest', 20],
    ['latest', 100],
    ['+10', 30],
    ['+1000', 100],
    ['-10', 90],
    ['-0', 100],
    ['-1000', 20],
    ['55', 55],
    ['7', 7],
    ['999', 999],
    ['@42', 42],
  ])('%s', async (text, offset) => {
    expect(await resolve(text)).toBe(offset)
  })

  it('knows the committed offset of a group, and where a new group begins', async () => {
    expect(await resolve('committed', 64)).toBe(64)
    expect(await resolve('committed', null)).toBe(20)
  })

  it('refuses committed where no group is meant', async () => {
    await expect(resolve('committed')).rejects.toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})
