import { describe, expect, it } from 'vitest'
import { formatSize, parseSize } from '../../../src/core/model/size.ts'

describe('parseSize', () => {
  it.each([
    ['512', 512],
    ['128B', 128],
    ['4KiB', 4096],
    ['4kib', 4096],
    ['1KB', 1000],
    ['1MB', 1_000_000],
    ['4MiB', 4_194_304],
    ['2GB', 2_000_000_000],
    ['1GiB', 1_073_741_824],
    ['0', 0],
  ])('%s is %d bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  it.each(['', '4K', '4 KiB', '1.5MB', '-1', '4KiBs', '1TB', 'KiB', '999999999999999GiB'])(
    'refuses %j',
    (text) => {
      expect(() => parseSize(text)).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    },
  )
})

describe('formatSize', () => {
  it.each([
    [0, '0B'],
    [1000, '1000B'],
    [4096, '4KiB'],
    [4_194_304, '4MiB'],
    [1_073_741_824, '1GiB'],
  ])('%d is %s, and is read back as the same', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
    expect(parseSize(text)).toBe(bytes)
  })
})
