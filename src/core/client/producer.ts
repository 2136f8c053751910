import type { Broker, SendGroup } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { QUEUES_PER_TOPIC_DEFAULT } from '../model/limits.ts'
import type { Message, SendReceipt } from '../model/message.ts'
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
    const mq = this.#select(await this.#route(message.topic), message, options)
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
        route = await this.#route(topic)
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
    const receipts = groups.length === 0 ? [] : await this.#broker.send(groups satisfies SendGroup[])
    return {
      count: messages.length,
      result: (i) => sendResult(receipts, groupIndex[i], placeInGroup[i], i, messages.length),
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

  #route(topic: string): Promise<Route> {
    let route = this.#routes.get(topic)
    if (!route) {
      route = this.#findRoute(topic)
      this.#routes.set(topic, route)
      // A topic that is missing now may exist at the next send.
      route.catch(() => this.#routes.delete(topic))
    }
    return route
  }

  async #findRoute(topic: string): Promise<Route> {
    let config = await this.#broker.topicConfig(topic)
    if (!config && this.#options.createTopics !== false) config = await this.#createTopic(topic)
    // Unknown and not to be created: the broker's own error names the nearest topic.
    const queues = await this.#broker.publishQueues(topic)
    return {
      queues,
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
