import type {
  AttemptStore,
  AuditFilter,
  AuditReport,
  Broker,
  BrokerNotification,
  DeadLetterStore,
  DeadMessage,
  Fence,
  LockFilter,
  LockRelease,
  OffsetCommit,
  PullRequest,
  PullResult,
  QueueOffset,
  RedeliveryLane,
  SendGroup,
} from '../broker.ts'
import type { GroupConfig, GroupMember, GroupProgress, MemberHeartbeat } from '../model/group.ts'
import type { LockGrant, QueueLock } from '../model/lock.ts'
import type { MessageExt, SendReceipt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { Runtime } from '../model/runtime.ts'
import type { QueueStats, TopicConfig, TopicSpec } from '../model/topic.ts'
import { Consumption } from './consumption.ts'
import { EmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.ts'
import { MessageFinder } from './message-finder.ts'
import { Puller } from './pull.ts'
import { PullWaiters } from './pull-waiters.ts'
import { Sender } from './send.ts'
import { storeError } from './store-errors.ts'
import { StoreWatch } from './store-watch.ts'
import { Messages } from './tables/messages.ts'
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
  readonly capabilities = { fencing: true, atomicAcrossQueues: true, emptyBodies: true }
  readonly deadLetters: DeadLetterStore
  readonly attempts: AttemptStore
  readonly redelivery: RedeliveryLane
  readonly #store: EmbeddedStore
  readonly #topics: TopicAdmin
  readonly #sender: Sender
  readonly #puller: Puller
  readonly #waiters: PullWaiters
  readonly #finder: MessageFinder
  readonly #consumption: Consumption
  readonly #watch: StoreWatch
  readonly #listeners = new Set<Listener>()
  #waiting = 0
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
    const parts = { topics, queues, messages }
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
      }),
    )
    this.#watch = new StoreWatch(store, {
      onChange: () => {
        waiters.check()
        consumption.onChange('rebalance')
        consumption.onChange('redelivery')
      },
      onTick: () => consumption.tick(),
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

  async subscribeQueues(topic: string): Promise<readonly MessageQueue[]> {
    return this.#topics.subscribeQueues(topic)
  }

  send(groups: readonly SendGroup[]): Promise<readonly SendReceipt[]> {
    return this.#sender.send(groups)
  }

  pull(request: PullRequest): Promise<PullResult> {
    return this.#puller.pull(request)
  }

  async queueStats(topic: string): Promise<readonly QueueStats[]> {
    return this.#topics.stats(topic)
  }

  async searchOffset(mq: MessageQueue, timestamp: number): Promise<number> {
    return this.#finder.offsetAt(mq, timestamp)
  }

  async messageById(msgId: string, topic?: string): Promise<MessageExt | undefined> {
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
  ): Promise<readonly LockGrant[]> {
    return this.#consumption.lockBatch(group, clientId, mqs, ttlMs)
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

  groupConfig(group: string): Promise<GroupConfig | undefined> {
    return this.#consumption.groupConfig(group)
  }

  listGroups(): Promise<readonly GroupConfig[]> {
    return this.#consumption.listGroups()
  }

  groupTopics(group: string): Promise<readonly string[]> {
    return this.#consumption.groupTopics(group)
  }

  progress(group: string, topic?: string): Promise<readonly GroupProgress[]> {
    return this.#consumption.progress(group, topic)
  }

  deadLetter(fence: Fence, letters: readonly DeadMessage[], commitTo: number | null): Promise<boolean> {
    return this.#consumption.deadLetter(fence, letters, commitTo)
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
    this.#watch.active = false
    try {
      await this.#consumption.close()
    } finally {
      await this.#store.close()
    }
  }

  #watchWhileNeeded(): void {
    this.#watch.active = this.#closing === undefined && (this.#waiting > 0 || this.#listeners.size > 0)
  }

  #notify(notification: BrokerNotification): void {
    for (const listener of [...this.#listeners]) listener(notification)
  }

  /** Who waits for the store must hear of it; who only listens does something that fails by itself. */
  #watchFailed(error: unknown): void {
    this.#waiters.fail(storeError(error, this.#store.path))
  }
}
