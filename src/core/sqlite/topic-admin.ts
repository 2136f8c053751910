import { RmqError } from '../model/errors.ts'
import { queueOf } from '../model/hash.ts'
import { BODY_BYTES_MAX, QUEUES_PER_TOPIC_DEFAULT, QUEUES_PER_TOPIC_MAX } from '../model/limits.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../model/message-queue.ts'
import { assertTopicCanBeCreated, isSystemTopic } from '../model/names.ts'
import type { QueueStats, TopicConfig, TopicSpec } from '../model/topic.ts'
import type { Store } from './store.ts'
import type { Queues } from './tables/queues.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

const READABLE = 4
const WRITABLE = 2

/** Topics and their queues, as producers and consumers route by them. */
export class TopicAdmin {
  readonly #store: Store
  readonly #topics: Topics
  readonly #queues: Queues

  constructor(store: Store, parts: { topics: Topics; queues: Queues }) {
    this.#store = store
    this.#topics = parts.topics
    this.#queues = parts.queues
  }

  async create(spec: TopicSpec): Promise<TopicConfig> {
    const topic = rowOf(spec, Math.floor(this.#store.host.runtime.now()))
    const create = () => {
      const row = this.#topics.insert(topic)
      if (row === undefined) throw this.#exists(topic.name)
      for (let queueId = 0; queueId < row.queues; queueId++) this.#queues.create(row.id, queueId)
      return row
    }
    return toConfig(await this.#store.write(create, { durable: true, wake: true }))
  }

  find(name: string): TopicConfig | undefined {
    const row = this.#topics.byName(name)
    return row && toConfig(row)
  }

  list(all: boolean): TopicConfig[] {
    const topics = this.#topics.all()
    return (all ? topics : topics.filter((topic) => !isSystemTopic(topic.name))).map(toConfig)
  }

  publishQueues(name: string): MessageQueue[] {
    return this.#queuesIf(WRITABLE, name)
  }

  subscribeQueues(name: string): MessageQueue[] {
    return this.#queuesIf(READABLE, name)
  }

  stats(name: string): QueueStats[] {
    return this.#queues.byTopic(this.#topics.get(name).id).map(({ queueId, minOffset, maxOffset }) => ({
      mq: { topic: name, brokerName: EMBEDDED_BROKER_NAME, queueId },
      minOffset,
      maxOffset,
    }))
  }

  #queuesIf(permission: number, name: string): MessageQueue[] {
    const topic = this.#topics.get(name)
    if ((topic.perm & permission) === 0) return []
    return this.#queues
      .byTopic(topic.id)
      .map(({ queueId }) => ({ topic: name, brokerName: EMBEDDED_BROKER_NAME, queueId }))
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
  refuseOutside('queues', queues, 1, QUEUES_PER_TOPIC_MAX)
  refuseOutside('max body', maxBody, 1, BODY_BYTES_MAX)
  if (retentionMs !== null)
    refuseOutside('retention in milliseconds', retentionMs, 1, Number.MAX_SAFE_INTEGER)
  // Refuses a rule by which this rmq cannot send.
  queueOf(hash, '', queues)
  return { name, queues, hash, retentionMs, maxBody, perm: 6, createdAt }
}

function refuseOutside(what: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return
  throw new RmqError('INVALID_ARGUMENT', `${what}: ${value} is not allowed`, {
    why: `it is a whole number from ${min} to ${max}`,
    hint: 'rmq topics create --help',
    details: { value, min, max },
  })
}

function toConfig({ name, queues, hash, retentionMs, maxBody, perm, createdAt }: TopicRow): TopicConfig {
  return { topic: name, queues, hash, retentionMs, maxBody, perm, createdAt }
}
