import { type MessageQueue, queueKey } from '../model/message-queue.ts'
import { allocateByConsistentHash } from './allocate-consistent-hash.ts'

/**
 * Which of a topic's queues one member of a group consumes (RocketMQ `AllocateMessageQueueStrategy`). Pure: every
 * member computes the same, as long as all of them use the same strategy. Queues and client ids come sorted.
 * A client that is not among the members gets nothing.
 */
export type AllocateMessageQueueStrategy = (
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
  clientId: string,
) => readonly MessageQueue[]

/** `AllocateMessageQueueAveragely`: contiguous blocks, the first `n mod c` members get one more. */
export const allocateAveragely: AllocateMessageQueueStrategy = (queues, clientIds, clientId) => {
  const index = clientIds.indexOf(clientId)
  if (index < 0 || queues.length === 0) return []
  const share = Math.floor(queues.length / clientIds.length)
  const rest = queues.length % clientIds.length
  const start = index * share + Math.min(index, rest)
  return queues.slice(start, start + share + (index < rest ? 1 : 0))
}

/** `AllocateMessageQueueAveragelyByCircle`: dealt out like cards, the k-th queue to member `k mod c`. */
export const allocateByCircle: AllocateMessageQueueStrategy = (queues, clientIds, clientId) => {
  const index = clientIds.indexOf(clientId)
  if (index < 0) return []
  return queues.filter((_, k) => k % clientIds.length === index)
}

/**
 * `AllocateMessageQueueByConfig`: this member takes the queues that were written down for it, whoever else is there.
 * RocketMQ answers the list as it is for every topic; here each topic gets those of its own that exist, in the order
 * of the list, so that members of several topics do not ask for a queue twice.
 */
export function allocateByConfig(configured: readonly MessageQueue[]): AllocateMessageQueueStrategy {
  return (queues) => {
    const existing = new Set(queues.map(queueKey))
    return configured.filter((mq) => existing.has(queueKey(mq)))
  }
}

/** The strategies with a name. */
export const ALLOCATE_STRATEGIES = {
  averagely: allocateAveragely,
  circle: allocateByCircle,
  'consistent-hash': allocateByConsistentHash,
} as const satisfies Readonly<Record<string, AllocateMessageQueueStrategy>>

export type AllocateStrategyName = keyof typeof ALLOCATE_STRATEGIES

export const ALLOCATE_STRATEGY_NAMES = Object.keys(ALLOCATE_STRATEGIES) as readonly AllocateStrategyName[]
