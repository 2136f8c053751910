import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrokerNotification, Fence } from '../../../src/core/broker.ts'
import type { MemberHeartbeat } from '../../../src/core/model/group.ts'
import type { LockGrant } from '../../../src/core/model/lock.ts'
import type { Message, MessageExt } from '../../../src/core/model/message.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'
import { Consumption } from '../../../src/core/sqlite/consumption.ts'
import { EmbeddedStore } from '../../../src/core/sqlite/embedded-store.ts'
import type { Host } from '../../../src/core/sqlite/host.ts'
import { Sender } from '../../../src/core/sqlite/send.ts'
import { DelayedMessages } from '../../../src/core/sqlite/tables/delayed-messages.ts'
import { Messages } from '../../../src/core/sqlite/tables/messages.ts'
import { Queues } from '../../../src/core/sqlite/tables/queues.ts'
import { Topics } from '../../../src/core/sqlite/tables/topics.ts'
import { TopicAdmin } from '../../../src/core/sqlite/topic-admin.ts'
import { Machine } from './machine.ts'

export const TTL = 60_000

/** One process with the file open: the real engine on a machine of the test's. */
export class Engine {
  readonly host: Host
  readonly store: EmbeddedStore
  readonly consumption: Consumption
  readonly topics: TopicAdmin
  readonly notifications: BrokerNotification[] = []
  readonly #sender: Sender
  readonly #messages: Messages
  readonly #queues: Queues

  constructor(path: string, host: Host) {
    this.host = host
    this.store = new EmbeddedStore({ path, durability: 'normal', host, create: true }, () => {})
    const topics = new Topics(this.store.db)
    this.#queues = new Queues(this.store.db, topics)
    this.#messages = new Messages(this.store.db, this.store.storeId)
    const delayed = new DelayedMessages(this.store.db)
    const parts = { topics, queues: this.#queues, messages: this.#messages, delayed }
    this.topics = new TopicAdmin(this.store, parts)
    this.#sender = new Sender(this.store, parts)
    this.consumption = new Consumption(this.store, { ...parts, notify: (n) => this.notifications.push(n) })
  }

  async send(topic: string, queueId: number, ...messages: readonly Omit<Message, 'topic'>[]): Promise<void> {
    await this.#sender.send([{ mq: mq(topic, queueId), messages: messages.map((m) => ({ ...m, topic })) }])
  }

  message(topic: string, queueId: number, offset: number): MessageExt {
    const { id } = this.#queues.resolve(mq(topic, queueId))
    const raw = this.#messages.at(id, offset)
    if (raw === undefined) throw new Error(`no message at ${topic}:${queueId}:${offset}`)
    return this.#messages.toMessageExt(raw, topic, queueId, id)
  }

  queueRow(topic: string, queueId: number): number {
    return this.#queues.resolve(mq(topic, queueId)).id
  }

  async join(group: string, clientId: string, more: Partial<MemberHeartbeat> = {}): Promise<void> {
    await this.consumption.heartbeat({ group, clientId, ...orderly('orders'), ...more })
  }

  async lock(group: string, clientId: string, queue: MessageQueue): Promise<LockGrant> {
    const [grant] = await this.consumption.lockBatch(group, clientId, [queue], TTL)
    if (grant === undefined) throw new Error('no answer')
    return grant
  }

  /** Joins, takes the queue, and answers the right that goes with it. */
  async own(group: string, clientId: string, queue: MessageQueue): Promise<Fence> {
    await this.join(group, clientId)
    const grant = await this.lock(group, clientId, queue)
    if (!grant.granted) throw new Error('not granted')
    return { group, clientId, mq: queue, epoch: grant.epoch }
  }

  async deadLetter(
    fence: Fence,
    offset: number,
    lastError: string | null = 'boom',
    attempts = 1,
  ): Promise<boolean> {
    const message = this.message(fence.mq.topic, fence.mq.queueId, offset)
    return await this.consumption.deadLetter(fence, [{ message, attempts, lastError }], offset + 1)
  }

  /** One look around, and the end of what it started. */
  async tick(): Promise<void> {
    this.consumption.tick()
    await settled()
  }
}

/** Engines on one file and one machine; `close` removes the file. */
export class Cluster {
  readonly machine = new Machine()
  readonly folder = mkdtempSync(join(tmpdir(), 'rmq-consumption-'))
  readonly path = join(this.folder, 'rmq.db')
  readonly #engines: Engine[] = []

  start(host: Host = this.machine.startProcess()): Engine {
    const engine = new Engine(this.path, host)
    this.#engines.push(engine)
    return engine
  }

  async close(): Promise<void> {
    for (const { store } of this.#engines) await store.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function mq(topic: string, queueId: number): MessageQueue {
  return { topic, brokerName: 'embedded', queueId }
}

export function orderly(
  topic: string,
  expression = '*',
): Pick<MemberHeartbeat, 'mode' | 'subscriptions' | 'lockTtlMs'> {
  return { mode: 'orderly', subscriptions: [{ topic, expressionType: 'TAG', expression }], lockTtlMs: TTL }
}

/** Lets everything that waits in this process run: writes share a turn of the event loop, and so do their followers. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
