import type { Broker } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import { BODY_BYTES_MAX, QUEUES_PER_TOPIC_DEFAULT, ROUTE_POLL_MS } from '../model/limits.ts'
import type { Message } from '../model/message.ts'
import { checkMessage } from '../model/message-check.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { TopicConfig } from '../model/topic.ts'
import { type MessageQueueSelector, selectByHash, selectRoundRobin } from './selectors.ts'

export interface PublishRoutesOptions {
  readonly createTopics?: boolean
  readonly onTopicCreated?: (config: TopicConfig) => void
}

/** A topic as a producer knows it (RocketMQ `TopicPublishInfo`). */
export interface PublishRoute {
  readonly topic: string
  /** In RocketMQ's order; never empty. */
  readonly queues: readonly MessageQueue[]
  readonly maxBody: number
  readonly byHash: MessageQueueSelector
  readonly roundRobin: MessageQueueSelector
}

interface KnownRoute {
  readonly route: Promise<PublishRoute>
  readonly askedAt: number
}

/** The routes of the topics that a producer sends to, asked for again every 30 s as RocketMQ's clients do. */
export class PublishRoutes {
  readonly #broker: Broker
  readonly #options: PublishRoutesOptions
  readonly #known = new Map<string, KnownRoute>()
  /** They outlive a route: a new one must not start over at a queue of its own. */
  readonly #roundRobins = new Map<string, MessageQueueSelector>()

  constructor(broker: Broker, options: PublishRoutesOptions) {
    this.#broker = broker
    this.#options = options
  }

  /** The route for a message; its topic is created when that is wanted. TOPIC_NOT_FOUND, TOPIC_READ_ONLY. */
  get(message: Message): Promise<PublishRoute> {
    const { topic } = message
    const now = this.#broker.runtime.monotonic()
    const known = this.#known.get(topic)
    if (known && now - known.askedAt < ROUTE_POLL_MS) return known.route
    const route = this.#find(message)
    this.#known.set(topic, { route, askedAt: now })
    // A topic that is missing now may exist at the next send.
    route.catch(() => {
      if (this.#known.get(topic)?.route === route) this.#known.delete(topic)
    })
    return route
  }

  /** The broker said that it is another by now. */
  forget(topic: string): void {
    this.#known.delete(topic)
  }

  async #find(message: Message): Promise<PublishRoute> {
    const { topic } = message
    let config = await this.#broker.topicConfig(topic)
    if (!config && this.#options.createTopics !== false) {
      // A message that cannot be stored leaves no topic behind.
      checkMessage(message, BODY_BYTES_MAX)
      config = await this.#create(topic)
    }
    // Unknown and not to be created: the broker's own error names the nearest topic.
    const queues = await this.#broker.publishQueues(topic)
    if (queues.length === 0) throw noQueues(topic, config)
    return {
      topic,
      queues,
      maxBody: config?.maxBody ?? BODY_BYTES_MAX,
      byHash: selectByHash(config?.hash ?? 'java'),
      roundRobin: this.#roundRobin(topic),
    }
  }

  #roundRobin(topic: string): MessageQueueSelector {
    let selector = this.#roundRobins.get(topic)
    if (!selector) {
      selector = selectRoundRobin(this.#broker.runtime)
      this.#roundRobins.set(topic, selector)
    }
    return selector
  }

  async #create(topic: string): Promise<TopicConfig | undefined> {
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

/** RocketMQ says `No route info of this topic`, whatever the reason. */
function noQueues(topic: string, config: TopicConfig | undefined): RmqError {
  const permission = config === undefined ? 'its permission is unknown' : `its permission is ${config.perm}`
  return new RmqError('TOPIC_READ_ONLY', `topic ${topic} takes no messages`, {
    why: `none of its queues can be written: ${permission}`,
    hint: `rmq topics describe ${topic}; rmq topics alter ${topic} --perm 6 opens it`,
    details: { topic, perm: config?.perm ?? null },
  })
}
