import { RmqError } from './errors.ts'
import { HASH_RULES, type HashRule } from './topic.ts'

/** A key's hash under a rule, and the index of the queue that follows from it. */
export interface KeyPlace {
  readonly hash: number
  readonly queueId: number
}

/** Java's `String.hashCode`: sum of s[i]*31^(n-1-i) over UTF-16 units, as a signed 32-bit integer. */
export function javaHashCode(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/**
 * Which of `queues` queues a key belongs to, as RocketMQ's `SelectMessageQueueByHash` says: the absolute value
 * of the truncated remainder. Taken after the remainder, so the smallest integer is no special case.
 */
export function javaQueueOf(key: string, queues: number): number {
  return Math.abs(javaHashCode(key) % queues)
}

const FNV_OFFSET_BASIS = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** 32-bit FNV-1a over the UTF-8 of a text, unsigned. RocketMQ's Go client hashes sharding keys with it. */
export function fnv1a(text: string): number {
  let hash = FNV_OFFSET_BASIS
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, FNV_PRIME)
  return hash >>> 0
}

const JUMP_MULTIPLIER = 2862933555777941757n
const JUMP_RANGE = 2 ** 31

/**
 * The jump consistent hash of Lamping and Veach in the form of Guava's `Hashing.consistentHash`, which RocketMQ's
 * gRPC proxy sends by: from n to n + 1 buckets only every (n + 1)-th input moves.
 */
export function jumpConsistentHash(input: bigint, buckets: number): number {
  let state = BigInt.asUintN(64, input)
  let bucket = 0
  for (;;) {
    state = BigInt.asUintN(64, JUMP_MULTIPLIER * state + 1n)
    // Java adds the 1 to an int, which wraps: the greatest value gives a negative step and ends the walk.
    const step = ((Number(state >> 33n) + 1) | 0) / JUMP_RANGE
    const next = Math.trunc((bucket + 1) / step)
    if (next < 0 || next >= buckets) return bucket
    bucket = next
  }
}

/**
 * Where a key goes among `queues` queues, by their index in RocketMQ's order. `jump` walks from Java's hash code,
 * so that is its `hash`. INVALID_ARGUMENT for a rule that is none.
 */
export function queueOf(rule: HashRule, key: string, queues: number): KeyPlace {
  switch (rule) {
    case 'java':
      return { hash: javaHashCode(key), queueId: javaQueueOf(key, queues) }
    case 'fnv1a': {
      const hash = fnv1a(key)
      return { hash, queueId: hash % queues }
    }
    case 'jump': {
      const hash = javaHashCode(key)
      return { hash, queueId: jumpConsistentHash(BigInt(hash), queues) }
    }
    default:
      throw unknownRule(rule)
  }
}

function unknownRule(rule: never): RmqError {
  return new RmqError('INVALID_ARGUMENT', `hash rule ${JSON.stringify(rule)} is unknown to this rmq`, {
    why: `it knows: ${HASH_RULES.join(', ')}`,
    hint: 'create the topic with --hash java',
  })
}
