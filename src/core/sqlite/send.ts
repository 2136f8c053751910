import type { SendGroup } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import type { SendReceipt } from '../model/message.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import { delayedBatch, delayedReceipt } from './delayed-batch.ts'
import { JoinedSends, type PlacedBatch } from './joined-sends.ts'
import { layOut } from './message-batch.ts'
import { checkRoute } from './route-check.ts'
import type { Store } from './store.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { Messages } from './tables/messages.ts'
import type { Queues } from './tables/queues.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

const WRITABLE = 2

interface Route {
  readonly topic: TopicRow
  /** `queue.id` by queue id, as far as asked for. */
  readonly queueRows: Map<number, number>
}

export interface SendParts {
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly delayed: DelayedMessages
}

/** Stores messages: checked before the transaction, so that within it only offsets are taken and rows inserted. */
export class Sender {
  readonly #runtime: Runtime
  readonly #storeId: number
  readonly #topics: Topics
  readonly #queues: Queues
  readonly #messages: Messages
  readonly #sends: JoinedSends
  /** Looked up once for all sends of one turn of the event loop: other processes may change them. */
  readonly #routes = new Map<string, Route>()

  constructor(store: Store, parts: SendParts) {
    this.#runtime = store.host.runtime
    this.#storeId = store.storeId
    this.#sends = new JoinedSends(store, parts)
    this.#topics = parts.topics
    this.#queues = parts.queues
    this.#messages = parts.messages
  }

  async send(groups: readonly SendGroup[]): Promise<readonly SendReceipt[]> {
    const born = Math.floor(this.#runtime.now())
    const batches = groups.map(({ mq, messages, queues }) => {
      const { topic, queueRow } = this.#resolve(mq)
      checkRoute(topic, { queueId: mq.queueId, queues })
      const batch = layOut(messages, topic.name, topic.maxBody)
      const place = { topicId: topic.id, queueId: mq.queueId, queues, queueRow, batch }
      const delayed = delayedBatch(messages, born, this.#storeId)
      return delayed === undefined ? place : { ...place, delayed }
    })
    const firstOffsets = await this.#sends.store(batches, born)
    return batches.map(({ queueRow, batch, delayed }: PlacedBatch, i) => {
      const { mq } = groups[i] as SendGroup
      return delayed
        ? delayedReceipt(mq, delayed)
        : this.#receipt(mq, queueRow, firstOffsets[i] as number, batch.count)
    })
  }

  #receipt(mq: MessageQueue, queueRow: number, queueOffset: number, count: number): SendReceipt {
    return {
      topic: mq.topic,
      brokerName: EMBEDDED_BROKER_NAME,
      queueId: mq.queueId,
      queueOffset,
      count,
      msgId: (i) => this.#messages.idAt(queueRow, queueOffset + i),
    }
  }

  #resolve(mq: MessageQueue): { topic: TopicRow; queueRow: number } {
    let route = this.#routes.get(mq.topic)
    if (route === undefined) {
      route = { topic: this.#topics.get(mq.topic), queueRows: new Map() }
      refuseReadOnly(route.topic)
      if (this.#routes.size === 0) this.#runtime.defer(() => this.#routes.clear())
      this.#routes.set(mq.topic, route)
    }
    let queueRow = mq.brokerName === EMBEDDED_BROKER_NAME ? route.queueRows.get(mq.queueId) : undefined
    if (queueRow === undefined) {
      queueRow = this.#queues.resolve(mq).id
      route.queueRows.set(mq.queueId, queueRow)
    }
    return { topic: route.topic, queueRow }
  }
}

function refuseReadOnly(topic: TopicRow): void {
  if ((topic.perm & WRITABLE) !== 0) return
  throw new RmqError('TOPIC_READ_ONLY', `topic ${topic.name} takes no messages`, {
    why: `its permission is ${topic.perm}: it can only be read`,
    hint: `rmq topics alter ${topic.name} --perm 6`,
    details: { topic: topic.name, perm: topic.perm },
  })
}
