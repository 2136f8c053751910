import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fnv1a,
  javaHashCode,
  javaQueueOf,
  jumpConsistentHash,
  queueOf,
} from '../../../src/core/model/hash.ts'
import { HASH_RULES } from '../../../src/core/model/topic.ts'

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

describe('the fnv1a hash rule', () => {
  // The test vectors that Noll published with the function.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['b', 0xe70c2de5],
    ['foo', 0xa9f37ed7],
    ['foobar', 0xbf9cf968],
  ])('%j has its published value', (key, hash) => {
    expect(fnv1a(key)).toBe(hash)
  })

  // Computed by a JVM over the bytes of the key's UTF-8; the queue of 4, 7, 8 and 16 is the unsigned remainder.
  it.each([
    ['order-17', 3559933102, [2, 5, 6, 14]],
    ['polygenelubricants', 3569074087, [3, 5, 7, 7]],
    ['ключ', 2512710113, [1, 4, 1, 1]],
    ['鍵', 3843693946, [2, 1, 2, 10]],
    ['😀', 866293256, [0, 3, 0, 8]],
    ['\u00e9', 513665217, [1, 2, 1, 1]],
    ['e\u0301', 4204513055, [3, 1, 7, 15]],
  ])('%j hashes by its UTF-8', (key, hash, queues) => {
    expect(queueOf('fnv1a', key, 4).hash).toBe(hash)
    expect([4, 7, 8, 16].map((n) => queueOf('fnv1a', key, n).queueId)).toEqual(queues)
  })
})

describe('the jump hash rule', () => {
  // The golden values of Guava's own test.
  it("walks as Guava's does", () => {
    const golden = [0, 55, 62, 8, 45, 59, 86, 97, 82, 59, 73, 37, 17, 56, 86, 21, 90, 37, 38, 83]
    expect(golden.map((_, i) => jumpConsistentHash(BigInt(i), 100))).toEqual(golden)
    expect(jumpConsistentHash(10863919174838991n, 11)).toBe(6)
    expect(jumpConsistentHash(2016238256797177309n, 11)).toBe(3)
    expect(jumpConsistentHash(1673758223894951030n, 11)).toBe(5)
    expect(jumpConsistentHash(2n, 100001)).toBe(80343)
    expect(jumpConsistentHash(2201n, 100001)).toBe(22152)
    expect(jumpConsistentHash(2202n, 100001)).toBe(15018)
  })

  // Computed by a JVM with Guava 31: Hashing.consistentHash(key.hashCode(), n) for n = 1, 3, 4, 7, 8, 12, 16, 1024.
  it.each([
    ['', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['a', [0, 0, 0, 0, 0, 0, 0, 346]],
    ['order-1001', [0, 2, 2, 2, 2, 2, 2, 888]],
    ['order-1002', [0, 2, 2, 2, 2, 2, 15, 493]],
    ['ORDER_42', [0, 2, 2, 2, 2, 9, 9, 110]],
    ['user:123456789', [0, 1, 3, 3, 3, 10, 10, 41]],
    ['polygenelubricants', [0, 2, 2, 2, 2, 2, 2, 185]],
    ['Aa', [0, 1, 1, 5, 5, 5, 14, 234]],
    ['BB', [0, 1, 1, 5, 5, 5, 14, 234]],
    ['ключ', [0, 2, 2, 5, 5, 5, 5, 958]],
    ['😀', [0, 1, 1, 4, 4, 4, 4, 748]],
  ])('%j goes where the proxy sends it', (key, queues) => {
    expect([1, 3, 4, 7, 8, 12, 16, 1024].map((n) => queueOf('jump', key, n).queueId)).toEqual(queues)
    expect(queueOf('jump', key, 8).hash).toBe(javaHashCode(key))
  })

  it('moves a key to the new queue or not at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 500 }), (key, n) => {
        const before = queueOf('jump', key, n).queueId
        expect([before, n]).toContain(queueOf('jump', key, n + 1).queueId)
      }),
    )
  })
})

describe('every hash rule', () => {
  it.each(HASH_RULES)('%s names a queue that there is', (rule) => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 1024 }), (key, n) => {
        const { queueId } = queueOf(rule, key, n)
        expect(Number.isInteger(queueId) && queueId >= 0 && queueId < n).toBe(true)
      }),
    )
  })
})
