import type { Broker } from '../broker.ts'
import type { DeadLetter } from '../model/dead-letter.ts'
import { queueOf } from '../model/hash.ts'
import type { TopicConfig } from '../model/topic.ts'
import { type ReplayResult, unmoved } from './replay-result.ts'

/** Says where replays would go, and asks for each topic only once. */
export class ReplayTargets {
  readonly #broker: Broker
  readonly #toTopic: string | undefined
  readonly #configs = new Map<string, Promise<TopicConfig | undefined>>()

  constructor(broker: Broker, toTopic: string | undefined) {
    this.#broker = broker
    this.#toTopic = toTopic
  }

  /** The result that a replay would have, as far as it can be told without doing it. */
  async foresee(letter: DeadLetter): Promise<ReplayResult> {
    const { msgId, key, queueId: originId, queueOffset } = letter.message
    const topic = this.#toTopic ?? letter.message.topic
    const config = await this.#config(topic)
    if (config === undefined) return unmoved(letter, 'failed', `topic ${topic} does not exist`)
    const wouldReplay = { msgId, status: 'would-replay', reason: null, topic } as const
    if (this.#toTopic === undefined && this.#broker.redelivery !== undefined) {
      return { ...wouldReplay, queueId: originId, queueOffset }
    }
    const queueId = key === null ? originId % config.queues : queueOf(config.hash, key, config.queues).queueId
    return { ...wouldReplay, queueId, queueOffset: null }
  }

  #config(topic: string): Promise<TopicConfig | undefined> {
    const known = this.#configs.get(topic) ?? this.#broker.topicConfig(topic)
    this.#configs.set(topic, known)
    return known
  }
}
