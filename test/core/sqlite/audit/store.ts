import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { Broker, Fence } from '../../../../src/core/broker.ts'
import { openBroker } from '../../../../src/core/index.ts'
import type { AuditReport } from '../../../../src/core/model/audit.ts'
import type { MessageExt } from '../../../../src/core/model/message.ts'
import { tempDb } from '../../../helpers/temp.ts'

const TTL = 60_000

/** A real file behind its broker, and a way past the broker for what no broker would write. */
export class AuditedStore {
  readonly broker: Broker
  readonly #db: Database.Database

  private constructor(broker: Broker, db: Database.Database) {
    this.broker = broker
    this.#db = db
    db.pragma('foreign_keys = off')
    db.pragma('ignore_check_constraints = on')
  }

  /** Closed when the test ends. */
  static async open(): Promise<AuditedStore> {
    const path = tempDb()
    const broker = await openBroker({ db: path })
    const store = new AuditedStore(broker, new Database(path))
    onTestFinished(async () => {
      store.#db.close()
      await broker.close()
    })
    return store
  }

  /** Joins and owns the queue. */
  async own(group: string, mode: 'orderly' | 'concurrent', topic: string, queueId = 0): Promise<Fence> {
    const clientId = `${group}-member`
    const subscriptions = [{ topic: 'orders', expressionType: 'TAG', expression: '*' }] as const
    await this.broker.heartbeat({ group, clientId, mode, subscriptions, lockTtlMs: TTL })
    return this.lock(group, clientId, topic, queueId)
  }

  async lock(group: string, clientId: string, topic: string, queueId = 0): Promise<Fence> {
    const [grant] = await this.broker.lockBatch(group, clientId, [mq(topic, queueId)], TTL)
    if (!grant?.granted) throw new Error('not granted')
    return { group, clientId, mq: mq(topic, queueId), epoch: grant.epoch }
  }

  /** Waits for one that is delayed. */
  async message(topic: string, offset: number): Promise<MessageExt> {
    const pulled = await this.broker.pull({ mq: mq(topic, 0), offset, maxMessages: 1, waitMs: 20_000 })
    const [message] = pulled.messages
    if (message?.queueOffset !== offset) throw new Error(`no message at ${topic}:0:${offset}`)
    return message
  }

  /** Does what no broker would. */
  corrupt(sql: string): void {
    this.#db.exec(sql)
  }

  /** `queue.id`. */
  queueRow(topic: string, queueId: number): number {
    const row = this.#db
      .prepare<[string, number], number>(
        `select q.id from queue q join topic t on t.id = q.topic_id where t.name = ? and q.queue_id = ?`,
      )
      .pluck()
      .get(topic, queueId)
    if (row === undefined) throw new Error(`no queue ${topic}:${queueId}`)
    return row
  }

  async audit(filter: { topic?: string; group?: string } = {}): Promise<AuditReport> {
    const report = await this.broker.audit?.(filter)
    if (report === undefined) throw new Error('no audit')
    return report
  }
}

export function mq(topic: string, queueId: number) {
  return { topic, brokerName: 'embedded', queueId }
}
