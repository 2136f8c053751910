import type {
  AttemptStore,
  AuditFilter,
  AuditReport,
  BrokerNotification,
  DeadLetterStore,
  DeadMessage,
  Fence,
  LockFilter,
  LockRelease,
  OffsetCommit,
  QueueOffset,
  RedeliveryLane,
} from '../broker.ts'
import type { GroupConfig, GroupMember, GroupProgress, MemberHeartbeat } from '../model/group.ts'
import type { LockGrant, QueueLock } from '../model/lock.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import { audit } from './audit/audit.ts'
import { ClientPresence } from './client-presence.ts'
import { CommittedOffsets, groupNotFound } from './committed-offsets.ts'
import { DeadLetterBox } from './dead-letter-box.ts'
import { DeathWatch } from './death-watch.ts'
import { LockManager } from './lock-manager.ts'
import { Membership } from './membership.ts'
import { Places } from './places.ts'
import { Progress } from './progress.ts'
import { StoredLane } from './redelivery.ts'
import { Replay } from './replay.ts'
import type { Store } from './store.ts'
import { StoredAttempts } from './stored-attempts.ts'
import { Attempts } from './tables/attempts.ts'
import { type ChangeKind, Changes } from './tables/changes.ts'
import { Clients } from './tables/clients.ts'
import { ConsumerOffsets } from './tables/consumer-offsets.ts'
import { DeadLetters } from './tables/dead-letters.ts'
import { Groups, toGroupConfig } from './tables/groups.ts'
import { Members } from './tables/members.ts'
import type { Messages } from './tables/messages.ts'
import { QueueLocks } from './tables/queue-locks.ts'
import type { Queues } from './tables/queues.ts'
import type { Topics } from './tables/topics.ts'

export interface ConsumptionParts {
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
  readonly #store: Store
  readonly #topics: Topics
  readonly #notify: (notification: BrokerNotification) => void
  readonly #groups: Groups
  readonly #attempts: Attempts
  readonly #changes: Changes
  readonly #places: Places
  readonly #presence: ClientPresence
  readonly #membership: Membership
  readonly #locks: LockManager
  readonly #offsets: CommittedOffsets
  readonly #box: DeadLetterBox
  readonly #progress: Progress
  readonly #watch: DeathWatch
  readonly #seen: Record<ChangeKind, number>
  #ticking = false
  #closed = false
  #lastTickError = ''

  constructor(store: Store, { queues, messages, topics, notify }: ConsumptionParts) {
    const { db } = store
    const groups = new Groups(db)
    const clients = new Clients(db)
    const members = new Members(db)
    const changes = new Changes(db)
    const attempts = new Attempts(db)
    const queueLocks = new QueueLocks(db)
    const deadLetters = new DeadLetters(db)
    const consumerOffsets = new ConsumerOffsets(db)
    const tables = { topics, queues, messages, groups, clients, members, changes }
    const all = { ...tables, attempts, queueLocks, deadLetters, consumerOffsets }
    const rebalance = () => this.onChange('rebalance')
    const places = new Places(groups, queues, queueLocks)
    const presence = new ClientPresence(store, all, (text) => notify({ kind: 'notice', text }))
    const offsets = new CommittedOffsets(store, places, all)
    const box = new DeadLetterBox(store, { places, groups, attempts, deadLetters, messages, offsets })
    const watch = new DeathWatch(store, all, presence, rebalance)
    const replay = new Replay(store, all, () => this.onChange('redelivery'))
    this.#locks = new LockManager(store, all, {
      presence,
      places,
      rebalance,
      onLingering: (handler) => watch.await(handler),
    })
    this.#membership = new Membership(store, all, presence, rebalance)
    this.#progress = new Progress(all)
    this.attempts = new StoredAttempts(store, places, attempts, queueLocks)
    this.redelivery = new StoredLane(store, { places, attempts, deadLetters, box })
    this.deadLetters = {
      list: (group, filter, page) => box.list(group, filter, page),
      count: (group, filter) => box.count(group, filter),
      replay: (deadLetter, request) => replay.replay(deadLetter, request),
    }
    this.#store = store
    this.#topics = topics
    this.#notify = notify
    this.#groups = groups
    this.#attempts = attempts
    this.#changes = changes
    this.#places = places
    this.#presence = presence
    this.#offsets = offsets
    this.#box = box
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
    return this.#membership.memberIds(group, topic)
  }

  async members(group: string): Promise<readonly GroupMember[]> {
    return this.#membership.members(group)
  }

  lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
  ): Promise<readonly LockGrant[]> {
    return this.#locks.lockBatch(group, clientId, mqs, ttlMs)
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

  deadLetter(fence: Fence, letters: readonly DeadMessage[], commitTo: number | null): Promise<boolean> {
    return this.#box.add(fence, letters, commitTo)
  }

  async audit(filter: AuditFilter): Promise<AuditReport> {
    return audit(this.#store, filter)
  }

  /** Stored attempts of live messages of a queue, from `fromOffset` (included) to `toOffset` (excluded), by offset. */
  storedAttempts(group: string, queueRow: number, fromOffset: number, toOffset: number): Map<number, number> {
    const groupId = this.#places.groupId(group)
    return groupId === undefined ? new Map() : this.#attempts.live(groupId, queueRow, fromOffset, toOffset)
  }

  /** Something may have changed, here or in another process: tells the groups of this process, once a change. */
  onChange(kind: ChangeKind): void {
    if (this.#closed) return
    const n = this.#changes.read(kind)
    if (n === this.#seen[kind]) return
    this.#seen[kind] = n
    for (const group of this.#membership.ownGroups()) this.#notify({ kind, group })
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
