import type { Broker, SendGroup } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { BODY_BYTES_MAX, QUEUES_PER_TOPIC_DEFAULT } from '../model/limits.ts'
import type { Message, SendReceipt } from '../model/message.ts'
import { checkMessage } from '../model/message-check.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { TopicConfig } from '../model/topic.ts'
import {
  type MessageQueueSelector,
  type SelectorName,
  selectByHash,
  selectByMod,
  selectByRandom,
  selectRoundRobin,
} from './selectors.ts'

export interface ProducerOptions {
  /** Create a topic on its first message, with 8 queues. Default true. */
  readonly createTopics?: boolean
  readonly onTopicCreated?: (config: TopicConfig) => void
}

export interface SendOptions {
  /** Default: `hash` for a message with a key, else `round-robin`. */
  readonly selector?: SelectorName | MessageQueueSelector
  /** Handed to the selector. */
  readonly arg?: unknown
  /** Chooses the queue itself: its place among the topic's queues. */
  readonly queueId?: number
}

/** RocketMQ's `SendResult`: the message is stored and durable. */
export interface SendResult {
  readonly sendStatus: 'SEND_OK'
  readonly msgId: string
  readonly topic: string
  readonly brokerName: string
  readonly queueId: number
  readonly queueOffset: number
}

/** What a batch gives back; results in the order of its messages, made when asked for. */
export interface BatchResult {
  readonly count: number
  result(i: number): SendResult
}

/** A topic as the producer knows it for the time of its life. */
interface Route {
  readonly queues: readonly MessageQueue[]
  readonly maxBody: number
  readonly byHash: MessageQueueSelector
  readonly roundRobin: MessageQueueSelector
}

/**
 * Sends messages (RocketMQ `DefaultMQProducer`). A send resolves when the message is durable, and a message of
 * a key is never retried on another queue: order holds when the messages of a key are sent one after the other,
 * or in one batch.
 */
export class Producer {
  readonly #broker: Broker
  readonly #options: ProducerOptions
  readonly #routes = new Map<string, Promise<Route>>()

  constructor(broker: Broker, options: ProducerOptions = {}) {
    this.#broker = broker
    this.#options = options
  }

  /** Sends one message. TOPIC_NOT_FOUND, QUEUE_NOT_FOUND, SELECTOR_FAILED, MESSAGE_TOO_LARGE, INVALID_MESSAGE. */
  async send(message: Message, options: SendOptions = {}): Promise<SendResult> {
    const mq = this.#select(await this.#route(message), message, options)
    const receipts = await this.#broker.send([{ mq, messages: [message] }])
    return sendResult(receipts, 0, 0, 0, 1)
  }

  /** Sends messages in one step, all or none, each to the queue that its selector names; order within a queue is kept. */
  async sendBatch(messages: readonly Message[], options: SendOptions = {}): Promise<BatchResult> {
    const groups: { mq: MessageQueue; messages: Message[] }[] = []
    const groupOf = new Map<MessageQueue, number>()
    // Where message i went: its group and its place there. Flat arrays, since a bulk send has thousands.
    const groupIndex = new Uint32Array(messages.length)
    const placeInGroup = new Uint32Array(messages.length)
    let topic: string | undefined
    let route: Route | undefined
    for (const [i, message] of messages.entries()) {
      if (route === undefined || message.topic !== topic) {
        topic = message.topic
        route = await this.#route(message)
      }
      const mq = this.#select(route, message, options)
      let index = groupOf.get(mq)
      if (index === undefined) {
        index = groups.push({ mq, messages: [] }) - 1
        groupOf.set(mq, index)
      }
      groupIndex[i] = index
      placeInGroup[i] = (groups[index] as { messages: Message[] }).messages.push(message) - 1
    }
    const receipts = groups.length === 0 ? [] : await this.#sendGroups(groups, messages)
    return {
      count: messages.length,
      result: (i) => sendResult(receipts, groupIndex[i], placeInGroup[i], i, messages.length),
    }
  }

  async #sendGroups(
    groups: readonly SendGroup[],
    messages: readonly Message[],
  ): Promise<readonly SendReceipt[]> {
    try {
      return await this.#broker.send(groups)
    } catch (error) {
      if (messages.length > 1 && isAboutMessage(error)) await this.#blame(messages)
      throw error
    }
  }

  /** Throws the refusal with the place of the message among all; the broker saw it in a group of its queue. */
  async #blame(messages: readonly Message[]): Promise<void> {
    for (const [index, message] of messages.entries()) {
      const { maxBody } = await this.#route(message)
      try {
        checkMessage(message, maxBody)
      } catch (error) {
        throw isAboutMessage(error) ? atIndex(error, index) : error
      }
    }
  }

  #select(route: Route, message: Message, options: SendOptions): MessageQueue {
    if (options.queueId !== undefined) return chosenQueue(route.queues, message.topic, options.queueId)
    const selector = this.#selector(route, message, options.selector)
    const mq = selector(route.queues, message, options.arg)
    if (mq !== undefined && route.queues.includes(mq)) return mq
    throw new RmqError('SELECTOR_FAILED', `the selector chose no queue of ${message.topic}`, {
      why: `it returned ${mq === undefined ? 'nothing' : JSON.stringify(mq)}; the topic has ${route.queues.length} queues`,
      hint: 'a selector returns one of the queues that it is given',
    })
  }

  #selector(route: Route, message: Message, selector: SendOptions['selector']): MessageQueueSelector {
    if (typeof selector === 'function') return selector
    switch (selector) {
      case undefined:
        return message.key === undefined ? route.roundRobin : route.byHash
      case 'hash':
        return route.byHash
      case 'round-robin':
        return route.roundRobin
      case 'random':
        return selectByRandom(this.#broker.runtime)
      case 'mod':
        return selectByMod
    }
  }

  #route(message: Message): Promise<Route> {
    const { topic } = message
    let route = this.#routes.get(topic)
    if (!route) {
      route = this.#findRoute(message)
      this.#routes.set(topic, route)
      // A topic that is missing now may exist at the next send.
      route.catch(() => this.#routes.delete(topic))
    }
    return route
  }

  async #findRoute(message: Message): Promise<Route> {
    const { topic } = message
    let config = await this.#broker.topicConfig(topic)
    if (!config && this.#options.createTopics !== false) {
      // A message that cannot be stored leaves no topic behind.
      checkMessage(message, BODY_BYTES_MAX)
      config = await this.#createTopic(topic)
    }
    // Unknown and not to be created: the broker's own error names the nearest topic.
    const queues = await this.#broker.publishQueues(topic)
    return {
      queues,
      maxBody: config?.maxBody ?? BODY_BYTES_MAX,
      byHash: selectByHash(config?.hash ?? 'java'),
      roundRobin: selectRoundRobin(this.#broker.runtime),
    }
  }

  async #createTopic(topic: string): Promise<TopicConfig | undefined> {
    try {
      const config = await this.#broker.createTopic({ topic, queues: QUEUES_PER_TOPIC_DEFAULT })
      this.#options.onTopicCreated?.(config)
      return config
    } catch (error) {
      // Another producer was first: its topic is as good.
      if (error instanceof RmqError && error.code === 'TOPIC_EXISTS') return this.#broker.topicConfig(topic)
      throw error
    }
  }
}

function chosenQueue(queues: readonly MessageQueue[], topic: string, queueId: number): MessageQueue {
  const mq = queues[queueId]
  if (mq) return mq
  throw new RmqError('QUEUE_NOT_FOUND', `topic ${topic} has no queue ${queueId}`, {
    why: `its queues are 0 to ${queues.length - 1}`,
    hint: `rmq topics describe ${topic}`,
    details: { topic, queueId, queues: queues.length },
  })
}

function sendResult(
  receipts: readonly SendReceipt[],
  group: number | undefined,
  place: number | undefined,
  i: number,
  count: number,
): SendResult {
  const receipt = group === undefined ? undefined : receipts[group]
  if (!receipt || place === undefined) throw new RangeError(`no result ${i} in a batch of ${count}`)
  return {
    sendStatus: 'SEND_OK',
    msgId: receipt.msgId(place),
    topic: receipt.topic,
    brokerName: receipt.brokerName,
    queueId: receipt.queueId,
    queueOffset: receipt.queueOffset + place,
  }
}

function isAboutMessage(error: unknown): error is RmqError {
  return error instanceof RmqError && (error.code === 'INVALID_MESSAGE' || error.code === 'MESSAGE_TOO_LARGE')
}

function atIndex(error: RmqError, index: number): RmqError {
  return new RmqError(error.code, `message ${index + 1}: ${error.message}`, {
    ...(error.why !== undefined && { why: error.why }),
    ...(error.hint !== undefined && { hint: error.hint }),
    details: { ...error.details, index },
  })
}
