import { RmqError } from './errors.ts'
import type { HashRule } from './topic.ts'

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

/** A key's hash under a rule, and the queue that follows from it. */
export function queueOf(rule: HashRule, key: string, queues: number): { hash: number; queueId: number } {
  if (rule === 'java') return { hash: javaHashCode(key), queueId: javaQueueOf(key, queues) }
  throw new RmqError('INVALID_ARGUMENT', `hash rule ${rule} is unknown to this rmq`, {
    why: 'it knows: java',
    hint: 'create the topic with --hash java',
  })
}
