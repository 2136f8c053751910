import type {
  AttemptStore,
  Broker,
  BrokerAdmin,
  BrokerNotification,
  DeadLetterStore,
  DeadMessage,
  DeliveryJournal,
  FailedMessage,
  Fence,
  LockFilter,
  LockRelease,
  OffsetCommit,
  ParkedKeys,
  PullRequest,
  PullResult,
  QueueOffset,
  RedeliveryLane,
  SendGroup,
} from '../broker.ts'
import type { AuditFilter, AuditReport } from '../model/audit.ts'
import type { GroupConfig, GroupMember, GroupProgress, MemberHeartbeat } from '../model/group.ts'
import type { LockGrant, QueueLock } from '../model/lock.ts'
import type { MessageExt, SendReceipt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import type { QueueStats, TopicConfig, TopicSpec } from '../model/topic.ts'
import { Consumption } from './consumption.ts'
import { DelayedDelivery } from './delayed-delivery.ts'
import { EmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.ts'
import { MessageFinder } from './message-finder.ts'
import { Puller } from './pull.ts'
import { PullWaiters } from './pull-waiters.ts'
import { Retention } from './retention.ts'
import { Sender } from './send.ts'
import { storeError } from './store-errors.ts'
import { StoreWatch } from './store-watch.ts'
import { BarrierTable } from './tables/barriers.ts'
import { DelayedMessages } from './tables/delayed-messages.ts'
import { Messages } from './tables/messages.ts'
import { OldMessages } from './tables/old-messages.ts'
import { Queues } from './tables/queues.ts'
import { Topics } from './tables/topics.ts'
import { TopicAdmin } from './topic-admin.ts'
import { translateErrors } from './translate-errors.ts'

export type EmbeddedBrokerOptions = EmbeddedStoreOptions

type Listener = (notification: BrokerNotification) => void

/** The broker in a file. Only wires and delegates; the rules are in the parts. */
export class EmbeddedBroker implements Broker {
  readonly kind = 'embedded'
  readonly runtime: Runtime
  readonly capabilities = {
    fencing: true,
    atomicAcrossQueues: true,
    emptyBodies: true,
    concurrentLocks: true,
  }
  readonly deadLetters: DeadLetterStore
  readonly attempts: AttemptStore
  readonly redelivery: RedeliveryLane
  readonly parkedKeys: ParkedKeys
  readonly admin: BrokerAdmin
  readonly journal: DeliveryJournal
  readonly #store: EmbeddedStore
  readonly #topics: TopicAdmin
  readonly #sender: Sender
  readonly #puller: Puller
  readonly #waiters: PullWaiters
  readonly #finder: MessageFinder
  readonly #consumption: Consumption
  readonly #watch: StoreWatch
  readonly #delivery: DelayedDelivery
  readonly #listeners = new Set<Listener>()
  #waiting = 0
  /** Who sent a delayed message stays ready to deliver it. */
  #hasSentDelayed = false
  #lastDutyFailure = ''
  #closing: Promise<void> | undefined

  /** Opens the file and brings it to the newest schema. */
  static open(options: EmbeddedBrokerOptions): EmbeddedBroker {
    return new EmbeddedBroker(options)
  }

  private constructor(options: EmbeddedBrokerOptions) {
    const store = new EmbeddedStore(options, () => this.#watch.poke())
    const topics = new Topics(store.db)
    const queues = new Queues(store.db, topics)
    const messages = new Messages(store.db, store.storeId)
    const delayed = new DelayedMessages(store.db)
    const barriers = new BarrierTable(store.db)
    const parts = { topics, queues, messages, delayed, barriers }
    const translated = <T extends object>(part: T) => translateErrors(part, store.path)
    const consumption = new Consumption(store, { ...parts, notify: (n) => this.#notify(n) })
    const waiters = new PullWaiters(store.host.runtime, queues, (waiting) => {
      this.#waiting = waiting
      this.#watchWhileNeeded()
    })
    this.runtime = store.host.runtime
    this.deadLetters = translated(consumption.deadLetters)
    this.attempts = translated(consumption.attempts)
    this.redelivery = translated(consumption.redelivery)
    this.parkedKeys = translated(consumption.parkedKeys)
    this.admin = translated(consumption.admin)
    this.journal = translated(consumption.journal)
    this.#store = store
    this.#topics = translated(new TopicAdmin(store, parts))
    this.#sender = translated(new Sender(store, parts))
    this.#finder = translated(new MessageFinder({ ...parts, storeId: store.storeId }))
    this.#consumption = translated(consumption)
    this.#waiters = waiters
    this.#puller = translated(
      new Puller(store, {
        ...parts,
        waiters,
        storedAttempts: (group, queue, from, to) => consumption.storedAttempts(group, queue.id, from, to),
        barrierLimit: (group, queue) => consumption.barrierLimit(group, queue),
      }),
    )
    const retention = new Retention(store, { messages: new OldMessages(store.db), barriers })
    this.#delivery = new DelayedDelivery(store, parts, (error) =>
      this.#dutyFailed('delivering delayed messages', error),
    )
    this.#watch = new StoreWatch(store, {
      onChange: () => {
        this.#delivery.changed()
        waiters.check()
        consumption.onChange('rebalance')
        consumption.onChange('redelivery')
      },
      onTick: () => {
        consumption.tick()
        retention.tick().catch((error: unknown) => this.#dutyFailed('removing old messages', error))
      },
      onFailure: (error) => this.#watchFailed(error),
      checkPlace: () => store.checkPlace(),
    })
  }

  createTopic(spec: TopicSpec): Promise<TopicConfig> {
    return this.#topics.create(spec)
  }

  async topicConfig(topic: string): Promise<TopicConfig | undefined> {
    return this.#topics.find(topic)
  }

  async listTopics(options?: { readonly all?: boolean }): Promise<readonly TopicConfig[]> {
    return this.#topics.list(options?.all === true)
  }

  async publishQueues(topic: string): Promise<readonly MessageQueue[]> {
    return this.#topics.publishQueues(topic)
  }

  async subscribeQueues(topic: string, group?: string): Promise<readonly MessageQueue[]> {
    if (group === undefined) return this.#topics.subscribeQueues(topic)
    return this.#topics.subscribeQueues(topic, (queue) => this.#consumption.awaits(group, queue))
  }

  async send(groups: readonly SendGroup[]): Promise<readonly SendReceipt[]> {
    const receipts = await this.#sender.send(groups)
    if (!this.#hasSentDelayed && receipts.some(({ queueOffset }) => queueOffset === null)) {
      this.#hasSentDelayed = true
      this.#watchWhileNeeded()
    }
    return receipts
  }

  async pull(request: PullRequest): Promise<PullResult> {
    // While watched it comes without being asked for, and a busy consumer pulls often.
    if (!this.#delivery.isWatching) await this.#delivery.deliverDue()
    return this.#puller.pull(request)
  }

  async queueStats(topic: string): Promise<readonly QueueStats[]> {
    await this.#delivery.deliverDue()
    return this.#topics.stats(topic)
  }

  async searchOffset(mq: MessageQueue, timestamp: number): Promise<number> {
    await this.#delivery.deliverDue()
    return this.#finder.offsetAt(mq, timestamp)
  }

  async messageById(msgId: string, topic?: string): Promise<MessageExt | undefined> {
    await this.#delivery.deliverDue()
    return this.#finder.byId(msgId, topic)
  }

  heartbeat(member: MemberHeartbeat): Promise<void> {
    return this.#consumption.heartbeat(member)
  }

  unregister(group: string, clientId: string): Promise<void> {
    return this.#consumption.unregister(group, clientId)
  }

  memberIds(group: string, topic: string): Promise<readonly string[]> {
    return this.#consumption.memberIds(group, topic)
  }

  members(group: string): Promise<readonly GroupMember[]> {
    return this.#consumption.members(group)
  }

  lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
    epochs?: readonly number[],
  ): Promise<readonly LockGrant[]> {
    return this.#consumption.lockBatch(group, clientId, mqs, ttlMs, epochs)
  }

  unlockBatch(group: string, clientId: string, mqs: readonly MessageQueue[]): Promise<void> {
    return this.#consumption.unlockBatch(group, clientId, mqs)
  }

  listLocks(filter?: LockFilter): Promise<readonly QueueLock[]> {
    return this.#consumption.listLocks(filter)
  }

  releaseLocks(filter: LockFilter, options: { readonly force: boolean }): Promise<readonly LockRelease[]> {
    return this.#consumption.releaseLocks(filter, options)
  }

  committedOffsets(group: string, topic: string): Promise<readonly QueueOffset[]> {
    return this.#consumption.committedOffsets(group, topic)
  }

  storeStartOffsets(group: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#consumption.storeStartOffsets(group, offsets)
  }

  commitOffsets(
    group: string,
    clientId: string,
    commits: readonly OffsetCommit[],
  ): Promise<readonly boolean[]> {
    return this.#consumption.commitOffsets(group, clientId, commits)
  }

  localOffsets(group: string, clientId: string, topic: string): Promise<readonly QueueOffset[]> {
    return this.#consumption.localOffsets(group, clientId, topic)
  }

  commitLocalOffsets(group: string, clientId: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#consumption.commitLocalOffsets(group, clientId, offsets)
  }

  groupConfig(group: string): Promise<GroupConfig | undefined> {
    return this.#consumption.groupConfig(group)
  }

  listGroups(): Promise<readonly GroupConfig[]> {
    return this.#consumption.listGroups()
  }

  groupTopics(group: string): Promise<readonly string[]> {
    return this.#consumption.groupTopics(group)
  }

  async progress(group: string, topic?: string): Promise<readonly GroupProgress[]> {
    await this.#delivery.deliverDue()
    return this.#consumption.progress(group, topic)
  }

  sendBack(fence: Fence, failures: readonly FailedMessage[]): Promise<boolean> {
    return this.#consumption.sendBack(fence, failures)
  }

  deadLetter(
    fence: Fence,
    letters: readonly DeadMessage[],
    commitTo: number | null,
    options?: { readonly parkKeys?: boolean },
  ): Promise<boolean> {
    return this.#consumption.deadLetter(fence, letters, commitTo, options)
  }

  audit(filter: AuditFilter): Promise<AuditReport> {
    return this.#consumption.audit(filter)
  }

  onNotification(listener: Listener): () => void {
    // Of its own, so that one function given twice is two listeners and ends twice.
    const own: Listener = (notification) => listener(notification)
    this.#listeners.add(own)
    this.#watchWhileNeeded()
    return () => {
      this.#listeners.delete(own)
      this.#watchWhileNeeded()
    }
  }

  /** Ends held pulls, leaves the groups, writes what waits, and closes the file. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#waiters.close()
    this.#listeners.clear()
    this.#hasSentDelayed = false
    this.#watchWhileNeeded()
    try {
      await this.#consumption.close()
    } finally {
      await this.#store.close()
    }
  }

  #watchWhileNeeded(): void {
    const isNeeded = this.#waiting > 0 || this.#listeners.size > 0 || this.#hasSentDelayed
    this.#delivery.isWatching = this.#closing === undefined && isNeeded
    this.#watch.active = this.#closing === undefined && isNeeded
  }

  #notify(notification: BrokerNotification): void {
    for (const listener of [...this.#listeners]) listener(notification)
  }

  /** Said once: it is tried again, here and by other processes. */
  #dutyFailed(what: string, error: unknown): void {
    const text = `${what} failed: ${error instanceof Error ? error.message : String(error)}`
    if (this.#closing !== undefined || this.#lastDutyFailure === text) return
    this.#lastDutyFailure = text
    this.#notify({ kind: 'notice', text })
  }

  /** Who waits for the store must hear of it; who only listens does something that fails by itself. */
  #watchFailed(error: unknown): void {
    this.#waiters.fail(storeError(error, this.#store.path))
  }
}
