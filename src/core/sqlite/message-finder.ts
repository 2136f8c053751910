import { RmqError } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import { parseMessageId } from './message-id.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { RawMessage } from './tables/raw-message.ts'
import type { Topics } from './tables/topics.ts'

export interface FinderParts {
  readonly storeId: number
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
}

/** Finds single messages: by time and by id. */
export class MessageFinder {
  readonly #parts: FinderParts

  constructor(parts: FinderParts) {
    this.#parts = parts
  }

  /**
   * First offset stored at or after `timestamp`, the max offset when there is none. A binary search, as RocketMQ's:
   * where the wall clock was set back, store times do not ascend, and it finds one of the places where they pass
   * `timestamp`.
   */
  offsetAt(mq: MessageQueue, timestamp: number): number {
    if (Number.isNaN(timestamp)) {
      throw new RmqError('INVALID_ARGUMENT', 'the time is no number', {
        why: 'it is in milliseconds since the epoch',
        hint: 'rmq help formatting',
      })
    }
    const { id, minOffset, maxOffset } = this.#parts.queues.resolve(mq)
    let low = minOffset
    let high = maxOffset
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const stored = this.#parts.messages.storedAt(id, middle)
      // Absent: retention removed it since the bounds were read.
      if (stored === undefined || stored < timestamp) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Where its id says, else, when a topic is given, among the messages that were moved there and kept their id. */
  byId(msgId: string, topicName: string | undefined): MessageExt | undefined {
    const id = msgId.toUpperCase()
    const atHome = this.#atHome(id)
    if (atHome !== undefined && (topicName === undefined || atHome.topic === topicName)) return atHome
    if (topicName === undefined) return undefined
    const topic = this.#parts.topics.get(topicName)
    for (const queue of this.#parts.queues.byTopic(topic.id)) {
      const raw = this.#parts.messages.byUniqKey(queue.id, id)
      if (raw !== undefined) return this.#show(raw, topic.name, queue)
    }
    return undefined
  }

  #atHome(msgId: string): MessageExt | undefined {
    const place = parseMessageId(msgId)
    if (place === undefined || place.storeId !== this.#parts.storeId) return undefined
    const queue = this.#parts.queues.byId(place.queueRow)
    const topic = queue && this.#parts.topics.byId(queue.topicId)
    if (queue === undefined || topic === undefined) return undefined
    const raw = this.#parts.messages.at(queue.id, place.offset)
    const message = raw && this.#show(raw, topic.name, queue)
    // A message that kept the id of another place does not answer to the id of its own.
    return message?.msgId === msgId ? message : undefined
  }

  #show(raw: RawMessage, topic: string, queue: QueueRow): MessageExt {
    return this.#parts.messages.toMessageExt(raw, topic, queue.queueId, queue.id)
  }
}
