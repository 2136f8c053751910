import { closestName } from '../model/closest-name.ts'
import { RmqError } from '../model/errors.ts'
import type { MessageQueue } from '../model/message-queue.ts'

export function topicNotFound(name: string, existing: readonly string[]): RmqError {
  const closest = closestName(name, existing)
  const count = existing.length === 1 ? '1 topic' : `${existing.length} topics`
  return new RmqError('TOPIC_NOT_FOUND', `topic ${name} does not exist`, {
    why:
      closest === undefined ? `the store has ${count}` : `the store has ${count}; the closest is ${closest}`,
    hint: closest === undefined ? 'rmq topics list' : `did you mean ${closest}? see: rmq topics list`,
    details: { topic: name, ...(closest === undefined ? {} : { closest }) },
  })
}

export function queueNotFound(mq: MessageQueue, queues: number): RmqError {
  return new RmqError('QUEUE_NOT_FOUND', `topic ${mq.topic} has no queue ${mq.queueId}`, {
    why: `it has queues 0 to ${queues - 1} on broker embedded; asked for ${mq.queueId} on ${mq.brokerName}`,
    hint: 'rmq topics list',
    details: { topic: mq.topic, queueId: mq.queueId, queues },
  })
}

/** The queue was there when its row was read: its topic was deleted since. */
export function queueRowGone(queueRow: number): RmqError {
  return new RmqError('QUEUE_NOT_FOUND', 'the queue was deleted while a message was on its way to it', {
    why: `queue row ${queueRow} is gone`,
    hint: 'rmq topics list',
  })
}
