import { RmqError } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import { isSystemTopic } from '../model/names.ts'
import { DELAYED_ROW, type MessagePlace, parseMessageId } from './message-id.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { RawMessage } from './tables/raw-message.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

export interface FinderParts {
  readonly storeId: number
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly delayed: DelayedMessages
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

  /**
   * Where its id says, else, when a topic is given, among the messages that were moved there and kept their id. A
   * message that was delayed is looked for in every topic: its id names no place. MESSAGE_NOT_FOUND, with the time,
   * while it is still to come.
   */
  byId(msgId: string, topicName: string | undefined): MessageExt | undefined {
    const id = msgId.toUpperCase()
    const place = parseMessageId(id)
    const isOurs = place?.storeId === this.#parts.storeId
    const wasDelayed = isOurs && place.queueRow === DELAYED_ROW
    if (wasDelayed) this.#refuseWaiting(id, place.offset)
    const atHome = isOurs ? this.#atHome(id, place) : undefined
    if (atHome !== undefined && (topicName === undefined || atHome.topic === topicName)) return atHome
    const { topics } = this.#parts
    if (topicName !== undefined) return this.#moved(id, topics.get(topicName))
    if (!wasDelayed) return undefined
    // A copy in a retry topic has the same id; the message is the one that its user sent.
    const all = topics.all()
    const system = all.filter(({ name }) => isSystemTopic(name))
    for (const topic of [...all.filter((each) => !system.includes(each)), ...system]) {
      const found = this.#moved(id, topic)
      if (found !== undefined) return found
    }
    return undefined
  }

  #moved(msgId: string, topic: TopicRow): MessageExt | undefined {
    for (const queue of this.#parts.queues.byTopic(topic.id)) {
      const raw = this.#parts.messages.byUniqKey(queue.id, msgId)
      if (raw !== undefined) return this.#show(raw, topic.name, queue)
    }
    return undefined
  }

  #refuseWaiting(msgId: string, delayedId: number): void {
    const waiting = this.#parts.delayed.place(delayedId)
    const queue = waiting && this.#parts.queues.byId(waiting.queueRow)
    if (waiting === undefined || queue === undefined) return
    const due = new Date(waiting.dueAt).toISOString()
    const topic = this.#parts.topics.byId(queue.topicId)?.name
    throw new RmqError('MESSAGE_NOT_FOUND', `message ${msgId} is in no queue yet`, {
      why: `it is delayed until ${due}, and goes to queue ${queue.queueId} of topic ${topic} then`,
      hint: 'look again when it is due',
      details: { msgId, topic, queueId: queue.queueId, deliverAt: due },
    })
  }

  #atHome(msgId: string, place: MessagePlace): MessageExt | undefined {
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
