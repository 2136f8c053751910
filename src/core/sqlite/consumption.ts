import type {
  AttemptStore,
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
  QueueOffset,
  RedeliveryLane,
} from '../broker.ts'
import type { AuditFilter, AuditReport } from '../model/audit.ts'
import type { GroupConfig, GroupMember, GroupProgress, MemberHeartbeat } from '../model/group.ts'
import type { LockGrant, QueueLock } from '../model/lock.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import { Admin } from './admin/admin.ts'
import { audit } from './audit/audit.ts'
import { Barriers } from './barriers.ts'
import { ClientPresence } from './client-presence.ts'
import { CommittedOffsets, groupNotFound } from './committed-offsets.ts'
import { ConsumeGate } from './consume-gate.ts'
import { consumptionTables } from './consumption-tables.ts'
import { DeadLetterBox } from './dead-letter-box.ts'
import { DeathWatch } from './death-watch.ts'
import { StoredJournal } from './journal.ts'
import { LocalOffsets } from './local-offsets.ts'
import { LockManager } from './lock-manager.ts'
import { Membership } from './membership.ts'
import { StoredParkedKeys } from './parked-keys.ts'
import { Places } from './places.ts'
import { Progress } from './progress.ts'
import { Purge } from './purge.ts'
import { StoredLane } from './redelivery.ts'
import { Replay } from './replay.ts'
import { SendBack } from './send-back.ts'
import type { Store } from './store.ts'
import { StoredAttempts } from './stored-attempts.ts'
import type { Attempts } from './tables/attempts.ts'
import type { ChangeKind, Changes } from './tables/changes.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import { type Groups, toGroupConfig } from './tables/groups.ts'
import type { Messages } from './tables/messages.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { Topics } from './tables/topics.ts'

export interface ConsumptionParts {
  readonly delayed: DelayedMessages
  readonly queues: Queues
  readonly messages: Messages
  readonly topics: Topics
  readonly notify: (notification: BrokerNotification) => void
}

/**
 * All that groups do to queues on the file: members, locks, offsets, attempts, dead letters and their replay.
 * Only wires and delegates; the rules are in the parts.
 */
export class Consumption {
  readonly deadLetters: DeadLetterStore
  readonly attempts: AttemptStore
  readonly redelivery: RedeliveryLane
  readonly parkedKeys: ParkedKeys
  readonly admin: BrokerAdmin
  readonly journal: DeliveryJournal
  readonly #store: Store
  readonly #topics: Topics
  readonly #notify: (notification: BrokerNotification) => void
  readonly #groups: Groups
  readonly #attempts: Attempts
  readonly #changes: Changes
  readonly #places: Places
  readonly #presence: ClientPresence
  readonly #membership: Membership
  readonly #gate: ConsumeGate
  readonly #locks: LockManager
  readonly #offsets: CommittedOffsets
  readonly #localOffsets: LocalOffsets
  readonly #box: DeadLetterBox
  readonly #sendBack: SendBack
  readonly #progress: Progress
  readonly #barriers: Barriers
  readonly #watch: DeathWatch
  readonly #seen: Record<ChangeKind, number>
  #ticking = false
  #closed = false
  #lastTickError = ''

  constructor(store: Store, { delayed, queues, messages, topics, notify }: ConsumptionParts) {
    const all = { ...consumptionTables(store.db), topics, queues, messages, delayed }
    const { groups, changes, attempts, queueLocks, deadLetters, parkedKeys } = all
    const rebalance = () => this.onChange('rebalance')
    const places = new Places(groups, queues, queueLocks)
    const presence = new ClientPresence(store, all, (text) => notify({ kind: 'notice', text }))
    const offsets = new CommittedOffsets(store, places, all)
    const box = new DeadLetterBox(store, { ...all, places, offsets })
    const watch = new DeathWatch(store, all, presence, rebalance)
    const redelivery = () => this.onChange('redelivery')
    const replay = new Replay(store, all, redelivery)
    const purge = new Purge(store, all, redelivery)
    this.#locks = new LockManager(store, all, {
      presence,
      places,
      rebalance,
      onLingering: (handler) => watch.await(handler),
    })
    this.#membership = new Membership(store, all, presence, rebalance)
    this.#gate = new ConsumeGate(groups, (text) => notify({ kind: 'notice', text }))
    this.admin = new Admin(store, { ...all, places, presence, membership: this.#membership, rebalance })
    this.#progress = new Progress(all)
    this.attempts = new StoredAttempts(store, places, attempts, queueLocks)
    this.redelivery = new StoredLane(store, { places, attempts, deadLetters, box })
    this.parkedKeys = new StoredParkedKeys(store, { places, parkedKeys, box })
    this.deadLetters = {
      list: (group, filter, page) => box.list(group, filter, page),
      count: (group, filter) => box.count(group, filter),
      replay: (deadLetter, request) => replay.replay(deadLetter, request),
      purge: (deadLetters) => purge.purge(deadLetters),
    }
    this.journal = new StoredJournal(store, places, all.deliveries)
    this.#store = store
    this.#topics = topics
    this.#notify = notify
    this.#groups = groups
    this.#attempts = attempts
    this.#barriers = new Barriers(all.barriers)
    this.#changes = changes
    this.#places = places
    this.#presence = presence
    this.#offsets = offsets
    this.#localOffsets = new LocalOffsets(store, places, all.broadcastOffsets)
    this.#box = box
    this.#sendBack = new SendBack(store, { ...all, places, offsets })
    this.#watch = watch
    this.#seen = { rebalance: changes.read('rebalance'), redelivery: changes.read('redelivery') }
  }

  heartbeat(member: MemberHeartbeat): Promise<void> {
    this.#places.forgetGroup(member.group)
    return this.#membership.heartbeat(member)
  }

  unregister(group: string, clientId: string): Promise<void> {
    return this.#membership.unregister(group, clientId)
  }

  async memberIds(group: string, topic: string): Promise<readonly string[]> {
    return this.#gate.isOpen(group) ? this.#membership.memberIds(group, topic) : []
  }

  async members(group: string): Promise<readonly GroupMember[]> {
    return this.#membership.members(group)
  }

  lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
    epochs?: readonly number[],
  ): Promise<readonly LockGrant[]> {
    return this.#locks.lockBatch(group, clientId, mqs, ttlMs, epochs)
  }

  unlockBatch(group: string, clientId: string, mqs: readonly MessageQueue[]): Promise<void> {
    return this.#locks.unlockBatch(group, clientId, mqs)
  }

  async listLocks(filter?: LockFilter): Promise<readonly QueueLock[]> {
    return this.#locks.listLocks(filter)
  }

  releaseLocks(filter: LockFilter, options: { readonly force: boolean }): Promise<readonly LockRelease[]> {
    return this.#locks.releaseLocks(filter, options)
  }

  async committedOffsets(group: string, topic: string): Promise<readonly QueueOffset[]> {
    return this.#offsets.list(group, topic)
  }

  storeStartOffsets(group: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#offsets.storeStart(group, offsets)
  }

  commitOffsets(
    group: string,
    clientId: string,
    commits: readonly OffsetCommit[],
  ): Promise<readonly boolean[]> {
    return this.#offsets.commit(group, clientId, commits)
  }

  async localOffsets(group: string, clientId: string, topic: string): Promise<readonly QueueOffset[]> {
    return this.#localOffsets.list(group, clientId, topic)
  }

  commitLocalOffsets(group: string, clientId: string, offsets: readonly QueueOffset[]): Promise<void> {
    return this.#localOffsets.commit(group, clientId, offsets)
  }

  async groupConfig(group: string): Promise<GroupConfig | undefined> {
    const row = this.#groups.byName(group)
    return row && toGroupConfig(row)
  }

  async listGroups(): Promise<readonly GroupConfig[]> {
    return this.#groups.all().map(toGroupConfig)
  }

  async groupTopics(group: string): Promise<readonly string[]> {
    return this.#groups.topics(this.#groupId(group))
  }

  /** All topics of the group, or any one topic: TOPIC_NOT_FOUND, GROUP_NOT_FOUND. */
  async progress(group: string, topic?: string): Promise<readonly GroupProgress[]> {
    const groupId = this.#groupId(group)
    const topics = topic === undefined ? this.#groups.topics(groupId) : [this.#topics.get(topic).name]
    return this.#progress.of(groupId, topics)
  }

  sendBack(fence: Fence, failures: readonly FailedMessage[]): Promise<boolean> {
    return this.#sendBack.sendBack(fence, failures)
  }

  deadLetter(
    fence: Fence,
    letters: readonly DeadMessage[],
    commitTo: number | null,
    options?: { readonly parkKeys?: boolean },
  ): Promise<boolean> {
    return this.#box.add(fence, letters, commitTo, options)
  }

  async audit(filter: AuditFilter): Promise<AuditReport> {
    return audit(this.#store, filter)
  }

  /** Stored attempts of live messages of a queue, from `fromOffset` (included) to `toOffset` (excluded), by offset. */
  storedAttempts(group: string, queueRow: number, fromOffset: number, toOffset: number): Map<number, number> {
    const groupId = this.#places.groupId(group)
    return groupId === undefined ? new Map() : this.#attempts.live(groupId, queueRow, fromOffset, toOffset)
  }

  /** Up to where the group may read the queue in order. */
  barrierLimit(group: string, queue: QueueRow): number {
    return this.#barriers.limit(this.#places.groupId(group), queue)
  }

  /** Whether messages of a queue, or replayed ones in front of it, still wait for the group. */
  awaits(group: string, queue: QueueRow): boolean {
    const groupId = this.#places.groupId(group)
    return groupId === undefined || this.#progress.awaits(groupId, queue)
  }

  /** Something may have changed, here or in another process: tells the groups of this process, once a change. */
  onChange(kind: ChangeKind): void {
    if (this.#closed) return
    const n = this.#changes.read(kind)
    if (n === this.#seen[kind]) return
    this.#seen[kind] = n
    for (const group of this.#membership.ownGroups()) this.#notify({ kind, group })
    if (kind === 'rebalance') {
      for (const text of this.#membership.refusals()) this.#notify({ kind: 'notice', text })
    }
  }

  /** Called every STORE_POLL_MS while someone listens. Never throws: what failed is tried again and said once. */
  tick(): void {
    if (this.#ticking || this.#closed) return
    this.#ticking = true
    this.#watch
      .tick()
      .then(
        () => {
          this.#lastTickError = ''
        },
        (error: unknown) => this.#tickFailed(error),
      )
      .finally(() => {
        this.#ticking = false
      })
  }

  /** Ends the memberships of this process and its proofs of life. Before the store is closed. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.#membership.close()
    } finally {
      this.#presence.releaseAll()
    }
  }

  #tickFailed(error: unknown): void {
    const text = `looking for dead members failed: ${error instanceof Error ? error.message : String(error)}`
    if (this.#closed || text === this.#lastTickError) return
    this.#lastTickError = text
    this.#notify({ kind: 'notice', text })
  }

  #groupId(group: string): number {
    const row = this.#groups.byName(group)
    if (row === undefined) throw groupNotFound(group)
    return row.id
  }
}
