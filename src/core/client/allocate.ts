import type { MessageQueue } from '../model/message-queue.ts'

/** Which of a topic's queues one member of a group consumes. Pure: every member computes the same. */
export type AllocateMessageQueueStrategy = (
  queues: readonly MessageQueue[],
  clientIds: readonly string[],
  clientId: string,
) => readonly MessageQueue[]

/**
 * RocketMQ's `AllocateMessageQueueAveragely`: contiguous blocks, the first `n mod c` members get one more.
 * Queues and client ids come sorted. A client that is not among the members gets nothing.
 */
export const allocateAveragely: AllocateMessageQueueStrategy = (queues, clientIds, clientId) => {
  const index = clientIds.indexOf(clientId)
  if (index < 0 || queues.length === 0) return []
  const share = Math.floor(queues.length / clientIds.length)
  const rest = queues.length % clientIds.length
  const start = index * share + Math.min(index, rest)
  return queues.slice(start, start + share + (index < rest ? 1 : 0))
}
