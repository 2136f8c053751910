import { RmqError } from '../model/errors.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import { queueNotFound } from './not-found.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

/** The queue of a batch, and the route by which it was chosen. */
export interface ChosenQueue {
  readonly topicId: number
  readonly queueId: number
  /** How many queues the selector of a key chose from; absent: the queue does not follow from a key. */
  readonly queues: number | undefined
}

/**
 * Refuses what was placed by a route of an earlier time. Inside the write job, where the route cannot change: a key's
 * message must not come to its old queue behind the barrier.
 */
export function checkRoutes(topics: Topics, chosen: Iterable<ChosenQueue>): void {
  const seen = new Map<number, TopicRow | undefined>()
  for (const queue of chosen) {
    if (!seen.has(queue.topicId)) seen.set(queue.topicId, topics.byId(queue.topicId))
    const topic = seen.get(queue.topicId)
    // Deleted meanwhile: so is the queue, which who takes its offset will find.
    if (topic !== undefined) checkRoute(topic, queue)
  }
}

/** ROUTE_CHANGED, QUEUE_NOT_FOUND. */
export function checkRoute(topic: TopicRow, { queueId, queues }: Omit<ChosenQueue, 'topicId'>): void {
  if (queues !== undefined && queues !== topic.queues) {
    throw new RmqError('ROUTE_CHANGED', `topic ${topic.name} has ${topic.queues} queues now, not ${queues}`, {
      why: 'the number of queues was changed after the queue of a key was chosen; nothing was stored',
      hint: 'choose the queue again and send once more',
      details: { topic: topic.name, queues: topic.queues, chosenFrom: queues },
    })
  }
  if (queueId < topic.queues) return
  throw queueNotFound({ topic: topic.name, brokerName: EMBEDDED_BROKER_NAME, queueId }, topic.queues)
}
