import { RmqError } from '../model/errors.ts'
import { queueOf } from '../model/hash.ts'
import { BODY_BYTES_MAX, QUEUES_PER_TOPIC_DEFAULT } from '../model/limits.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../model/message-queue.ts'
import { assertTopicCanBeCreated, isSystemTopic } from '../model/names.ts'
import type { QueueStats, TopicConfig, TopicSpec } from '../model/topic.ts'
import { checkTopicSettings } from '../model/topic-settings.ts'
import type { Store } from './store.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import { type TopicRow, type Topics, toTopicConfig } from './tables/topics.ts'

const READABLE = 4
const WRITABLE = 2

/** Topics and their queues, as producers and consumers route by them. */
export class TopicAdmin {
  readonly #store: Store
  readonly #topics: Topics
  readonly #queues: Queues
  readonly #delayed: DelayedMessages

  constructor(store: Store, parts: { topics: Topics; queues: Queues; delayed: DelayedMessages }) {
    this.#store = store
    this.#topics = parts.topics
    this.#queues = parts.queues
    this.#delayed = parts.delayed
  }

  async create(spec: TopicSpec): Promise<TopicConfig> {
    const topic = rowOf(spec, Math.floor(this.#store.host.runtime.now()))
    const create = () => {
      const row = this.#topics.insert(topic)
      if (row === undefined) throw this.#exists(topic.name)
      for (let queueId = 0; queueId < row.queues; queueId++) this.#queues.create(row.id, queueId)
      return row
    }
    return toTopicConfig(await this.#store.write(create, { durable: true, wake: true }))
  }

  find(name: string): TopicConfig | undefined {
    const row = this.#topics.byName(name)
    return row && toTopicConfig(row)
  }

  list(all: boolean): TopicConfig[] {
    const topics = this.#topics.all()
    return (all ? topics : topics.filter((topic) => !isSystemTopic(topic.name))).map(toTopicConfig)
  }

  /** Dropped queues take no messages. */
  publishQueues(name: string): MessageQueue[] {
    const topic = this.#topics.get(name)
    if ((topic.perm & WRITABLE) === 0) return []
    return this.#queues
      .byTopic(topic.id)
      .filter(({ queueId }) => queueId < topic.queues)
      .map((queue) => toMessageQueue(name, queue))
  }

  /** `isWanted` chooses among the dropped queues that hold messages; all when absent. */
  subscribeQueues(name: string, isWanted: (dropped: QueueRow) => boolean = () => true): MessageQueue[] {
    const topic = this.#topics.get(name)
    if ((topic.perm & READABLE) === 0) return []
    return this.#readable(topic)
      .filter((queue) => queue.queueId < topic.queues || isWanted(queue))
      .map((queue) => toMessageQueue(name, queue))
  }

  stats(name: string): QueueStats[] {
    return this.#readable(this.#topics.get(name)).map((queue) => ({
      mq: toMessageQueue(name, queue),
      minOffset: queue.minOffset,
      maxOffset: queue.maxOffset,
      scheduled: this.#delayed.count(queue.id),
    }))
  }

  /** Queues that take messages, and dropped ones that still hold some, or that delayed ones were sent to. */
  #readable(topic: TopicRow): QueueRow[] {
    return this.#queues
      .byTopic(topic.id)
      .filter(
        ({ id, queueId, minOffset, maxOffset }) =>
          queueId < topic.queues || minOffset < maxOffset || this.#delayed.count(id) > 0,
      )
  }

  #exists(name: string): RmqError {
    const queues = this.#topics.byName(name)?.queues
    return new RmqError('TOPIC_EXISTS', `topic ${name} exists already`, {
      why: `it has ${queues} queues`,
      hint: 'rmq topics list, or create it with --if-not-exists',
      details: { topic: name, queues },
    })
  }
}

function rowOf(spec: TopicSpec, createdAt: number): Omit<TopicRow, 'id'> {
  const {
    topic: name,
    queues = QUEUES_PER_TOPIC_DEFAULT,
    hash = 'java',
    retentionMs = null,
    maxBody = BODY_BYTES_MAX,
  } = spec
  assertTopicCanBeCreated(name)
  checkTopicSettings({ queues, retentionMs, maxBody }, 'rmq topics create')
  // Refuses a rule by which this rmq cannot send.
  queueOf(hash, '', queues)
  return { name, queues, hash, retentionMs, maxBody, perm: 6, createdAt }
}

function toMessageQueue(topic: string, { queueId }: QueueRow): MessageQueue {
  return { topic, brokerName: EMBEDDED_BROKER_NAME, queueId }
}
