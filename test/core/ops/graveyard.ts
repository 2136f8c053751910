import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Broker, Fence } from '../../../src/core/broker.ts'
import { Producer } from '../../../src/core/client/producer.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../../../src/core/model/message-queue.ts'
import { openBroker } from '../../../src/core/open-broker.ts'

const CLIENT_ID = 'undertaker'

/** A broker on a file of its own, with a way to bring messages straight to the dead letters. */
export class Graveyard {
  readonly #folder: string
  readonly broker: Broker

  private constructor(folder: string, broker: Broker) {
    this.#folder = folder
    this.broker = broker
  }

  static async open(): Promise<Graveyard> {
    const folder = await mkdtemp(join(tmpdir(), 'rmq-graveyard-'))
    return new Graveyard(folder, await openBroker({ db: join(folder, 'rmq.db'), durability: 'normal' }))
  }

  async remove(): Promise<void> {
    await this.broker.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  queue(topic: string, queueId: number): MessageQueue {
    return { topic, queueId, brokerName: EMBEDDED_BROKER_NAME }
  }

  /** Sends one message of each key in this order, and answers all of the topic by queue and offset. */
  async send(topic: string, keys: readonly string[]): Promise<readonly MessageExt[]> {
    const producer = new Producer(this.broker, {})
    await producer.sendBatch(keys.map((key, i) => ({ topic, key, body: `${key}:${i}` })))
    const all: MessageExt[] = []
    for (const mq of await this.broker.subscribeQueues(topic)) {
      const pulled = await this.broker.pull({ mq, offset: 0, maxMessages: 10_000, waitMs: 0 })
      all.push(...pulled.messages)
    }
    return all
  }

  /** Dead-letters these messages for the group, as an owner of their queues does. */
  async bury(group: string, messages: readonly MessageExt[], error = 'no'): Promise<void> {
    const { broker } = this
    const topics = [...new Set(messages.map(({ topic }) => topic))]
    const subscriptions = topics.map((topic) => ({ topic, expressionType: 'TAG', expression: '*' }) as const)
    await broker.heartbeat({ group, clientId: CLIENT_ID, mode: 'orderly', subscriptions, lockTtlMs: 60_000 })
    for (const message of messages) {
      const mq = this.queue(message.topic, message.queueId)
      const live = messages.filter((one) => one.queueId === message.queueId && one.topic === message.topic)
      const end = Math.max(...live.map(({ queueOffset }) => queueOffset)) + 1
      const [grant] = await broker.lockBatch(group, CLIENT_ID, [mq], 60_000)
      if (!grant?.granted) throw new Error(`the lock of ${mq.topic}:${mq.queueId} is held`)
      const fence: Fence = { group, clientId: CLIENT_ID, mq, epoch: grant.epoch }
      const commitTo = message.redelivery === undefined ? end : null
      const isMoved = await broker.deadLetter(fence, [{ message, attempts: 1, lastError: error }], commitTo)
      if (!isMoved) throw new Error('the dead letter was refused')
    }
  }

  /** The replayed messages that wait in front of a queue; taken off it when `complete`. */
  async lane(group: string, mq: MessageQueue, complete = false): Promise<readonly MessageExt[]> {
    const [grant] = await this.broker.lockBatch(group, CLIENT_ID, [mq], 60_000)
    const fence = { group, clientId: CLIENT_ID, mq, epoch: grant?.granted ? grant.epoch : -1 }
    const waiting = (await this.broker.redelivery?.pull(fence, 10_000)) ?? []
    const ids = waiting.flatMap(({ redelivery }) =>
      redelivery === undefined ? [] : [redelivery.deadLetterId],
    )
    if (complete) await this.broker.redelivery?.complete(fence, ids)
    return waiting
  }

  async deadCount(group: string): Promise<number> {
    return (await this.broker.deadLetters.count(group, {})).get(group) ?? 0
  }
}
