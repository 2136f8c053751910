import { describe, expect, it } from 'vitest'
import { javaHashCode, javaQueueOf } from '../../../src/core/model/hash.ts'

// Computed by a JVM: String.hashCode, and |hash % n| for n = 4, 8, 16.
const vectors: readonly [key: string, hash: number, of4: number, of8: number, of16: number][] = [
  ['', 0, 0, 0, 0],
  ['a', 97, 1, 1, 1],
  ['order-1001', 708180863, 3, 7, 15],
  ['order-1002', 708180864, 0, 0, 0],
  ['ORDER_42', 2016961839, 3, 7, 15],
  ['user:123456789', -1619223738, 2, 2, 10],
  ['polygenelubricants', -2147483648, 0, 0, 0],
  ['Aa', 2112, 0, 0, 0],
  ['BB', 2112, 0, 0, 0],
]

describe('the java hash rule', () => {
  it.each(vectors)('%j hashes as in Java', (key, hash, of4, of8, of16) => {
    expect(javaHashCode(key)).toBe(hash)
    expect([4, 8, 16].map((n) => javaQueueOf(key, n))).toEqual([of4, of8, of16])
  })

  it.each(['polygenelubricants', 'GydZG_', 'DESIGNING WORKHOUSES'])(
    'takes the smallest integer for what it is: %j',
    (key) => {
      expect(javaHashCode(key)).toBe(-2147483648)
      expect([3, 4, 5, 7, 8].map((n) => javaQueueOf(key, n))).toEqual([2, 0, 3, 2, 0])
    },
  )

  it('hashes UTF-16 units, so composed and decomposed accents are two keys', () => {
    expect(javaQueueOf('\u00e9', 8)).toBe(1)
    expect(javaQueueOf('e\u0301', 8)).toBe(4)
    // A surrogate pair is two units: 0xd83d * 31 + 0xde00.
    expect(javaHashCode('😀')).toBe(0xd83d * 31 + 0xde00)
  })
})
