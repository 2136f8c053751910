import type { DeadLetter, DeadLetterFilter, ReplayOutcome } from './model/dead-letter.ts'
import type { GroupConfig, GroupMember, GroupProgress, MemberHeartbeat, Subscription } from './model/group.ts'
import type { HandlerProcess, LockGrant, QueueLock } from './model/lock.ts'
import type { Message, MessageExt, SendReceipt } from './model/message.ts'
import type { MessageQueue } from './model/message-queue.ts'
import type { Runtime } from './model/runtime.ts'
import type { QueueStats, TopicConfig, TopicSpec } from './model/topic.ts'

/**
 * What a client may ask of any broker, in RocketMQ's words. The embedded engine implements it on a file,
 * the cluster broker over the remoting protocol; `client/` and `ops/` see nothing else.
 *
 * What only some brokers can do is an optional member or a capability: its absence is the answer.
 * Every method rejects with an `RmqError`. Numbers in comments are request codes of the protocol.
 */
export interface Broker extends AsyncDisposable {
  readonly kind: 'embedded' | 'cluster'
  readonly capabilities: BrokerCapabilities
  /** The clocks, chance and timers that its clients use too. */
  readonly runtime: Runtime

  // Topics and routes

  /** Creates a topic (17). TOPIC_EXISTS when there is one of that name. */
  createTopic(spec: TopicSpec): Promise<TopicConfig>
  topicConfig(topic: string): Promise<TopicConfig | undefined>
  /** By name. System topics only when asked for. */
  listTopics(options?: { readonly all?: boolean }): Promise<readonly TopicConfig[]>
  /** Queues that take messages, in RocketMQ's order (105). TOPIC_NOT_FOUND when the topic is unknown. */
  publishQueues(topic: string): Promise<readonly MessageQueue[]>
  /** Queues that can be read, in RocketMQ's order (105). */
  subscribeQueues(topic: string): Promise<readonly MessageQueue[]>

  // Messages

  /**
   * Stores messages, all or none, and resolves when they are durable (310, 320).
   * Groups of more than one queue need `capabilities.atomicAcrossQueues`.
   */
  send(groups: readonly SendGroup[]): Promise<readonly SendReceipt[]>
  /** Reads from an offset on; holds the request up to `waitMs` when nothing is there (11). */
  pull(request: PullRequest): Promise<PullResult>
  /** Bounds of every queue of a topic (30, 31). */
  queueStats(topic: string): Promise<readonly QueueStats[]>
  /** First offset stored at or after `timestamp`; the max offset when there is none (29). */
  searchOffset(mq: MessageQueue, timestamp: number): Promise<number>
  /** The message of that id, if it is still stored (33, 12). */
  messageById(msgId: string, topic?: string): Promise<MessageExt | undefined>

  // Members

  /**
   * Joins a group or stays in it (34). Creates the group on first sight.
   * GROUP_CONFLICT when live members consume in another mode or with another subscription,
   * CLIENT_ID_IN_USE when another living process goes by this client id.
   */
  heartbeat(member: MemberHeartbeat): Promise<void>
  /** Leaves a group (35). Locks are released by `unlockBatch` before. */
  unregister(group: string, clientId: string): Promise<void>
  /** Client ids that take part in the allocation of a topic's queues, unsorted (38). */
  memberIds(group: string, topic: string): Promise<readonly string[]>
  members(group: string): Promise<readonly GroupMember[]>

  // Queue locks

  /** Takes or renews locks, each for itself (41). `ttlMs` counts only where the broker lets a client choose it. */
  lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
  ): Promise<readonly LockGrant[]>
  /** Gives back what this client holds; what it does not hold is left alone (42). */
  unlockBatch(group: string, clientId: string, mqs: readonly MessageQueue[]): Promise<void>
  listLocks(filter?: LockFilter): Promise<readonly QueueLock[]>
  /**
   * Frees locks from outside. Without `force` only expired and dead ones.
   * With it the epoch is raised, so that the old owner's next commit is refused.
   */
  releaseLocks(filter: LockFilter, options: { readonly force: boolean }): Promise<readonly LockRelease[]>

  // Offsets

  /** Next offset to consume of each queue of the topic; queues that the group never started are absent (14). */
  committedOffsets(group: string, topic: string): Promise<readonly QueueOffset[]>
  /**
   * Stores where a group starts, for queues on which it has no offset yet; others keep theirs.
   * Needs no lock: it moves nothing. The group exists (it had a heartbeat).
   */
  storeStartOffsets(group: string, offsets: readonly QueueOffset[]): Promise<void>
  /**
   * Moves committed offsets (15). Answers for each whether it was accepted: refused means that the lock
   * went to another owner (its epoch is stale). Brokers without fencing accept all.
   */
  commitOffsets(
    group: string,
    clientId: string,
    commits: readonly OffsetCommit[],
  ): Promise<readonly boolean[]>

  // Groups

  groupConfig(group: string): Promise<GroupConfig | undefined>
  listGroups(options?: { readonly all?: boolean }): Promise<readonly GroupConfig[]>
  /** Topics that a group consumes or has consumed. */
  groupTopics(group: string): Promise<readonly string[]>
  progress(group: string, topic?: string): Promise<readonly GroupProgress[]>

  // Dead letters

  /**
   * Moves messages to the dead letters of the group and the committed offset past them, in one step where the
   * broker can. False when the lock was lost: nothing was moved. A replayed message returns to its own entry.
   */
  deadLetter(fence: Fence, letters: readonly DeadMessage[], commitTo: number | null): Promise<boolean>
  readonly deadLetters: DeadLetterStore

  /** Attempts that survive a crash and a change of owner. Absent: the client counts in its memory, as RocketMQ's does. */
  readonly attempts?: AttemptStore
  /** Replayed messages in front of a queue. Absent: a replay is an ordinary send. */
  readonly redelivery?: RedeliveryLane
  /** Checks the invariants on what is stored. */
  readonly audit?: (filter: AuditFilter) => Promise<AuditReport>

  /** Calls `listener` for what happens at the broker. Returns a function that ends it. */
  onNotification(listener: (notification: BrokerNotification) => void): () => void
  close(): Promise<void>
}

export interface BrokerCapabilities {
  /** Commits of a stale owner are refused. */
  readonly fencing: boolean
  /** One send may span several queues, all or none. */
  readonly atomicAcrossQueues: boolean
  /** Bodies of zero bytes are stored. */
  readonly emptyBodies: boolean
}

/** Messages for one queue: they get contiguous offsets, in this order. */
export interface SendGroup {
  readonly mq: MessageQueue
  readonly messages: readonly Message[]
}

export interface PullRequest {
  /** Absent for a look that belongs to no group (`peek`). With it, `reconsumeTimes` counts the group's stored attempts. */
  readonly group?: string
  readonly mq: MessageQueue
  readonly offset: number
  readonly maxMessages: number
  /** Default: everything. */
  readonly subscription?: Subscription
  /** How long to hold the request when nothing is there; 0 answers at once. */
  readonly waitMs: number
  /** Ends a held request with NO_NEW_MSG. */
  readonly signal?: AbortSignal
}

export type PullStatus = 'FOUND' | 'NO_NEW_MSG' | 'NO_MATCHED_MSG' | 'OFFSET_ILLEGAL'

export interface PullResult {
  readonly status: PullStatus
  readonly messages: readonly MessageExt[]
  /** Where to go on, also when nothing was found. */
  readonly nextOffset: number
  readonly minOffset: number
  readonly maxOffset: number
}

export interface QueueOffset {
  readonly mq: MessageQueue
  readonly offset: number
}

export interface OffsetCommit extends QueueOffset {
  /** Of the lock under which the messages were consumed. */
  readonly epoch: number
}

export interface LockFilter {
  readonly group?: string
  readonly topic?: string
  readonly queueId?: number
}

export interface LockRelease {
  readonly lock: QueueLock
  /** `kept`: its owner lives and `force` was not said. */
  readonly outcome: 'released' | 'kept'
}

/** The right under which an owner changes a queue's state. */
export interface Fence {
  readonly group: string
  readonly clientId: string
  readonly mq: MessageQueue
  readonly epoch: number
}

export interface DeadMessage {
  readonly message: MessageExt
  readonly attempts: number
  readonly lastError: string | null
}

export interface DeadLetterStore {
  /** In the order of their queues and offsets; pages by `after`, an id-independent cursor from the previous page. */
  list(
    group: string,
    filter: DeadLetterFilter,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly deadLetters: readonly DeadLetter[]; readonly next: string | null }>
  /** How many match, by group (all groups when absent). */
  count(group: string | undefined, filter: DeadLetterFilter): Promise<ReadonlyMap<string, number>>
  /**
   * Claim, move and mark in one transaction: of two replays at once one gets it, the other is told why not.
   * Default target: the group's redelivery lane of the original queue. `maxReplays` guards against loops.
   */
  replay(
    deadLetter: DeadLetter,
    options: { readonly toTopic?: string; readonly maxReplays?: number },
  ): Promise<ReplayOutcome>
}

/** A message of a queue as attempts are counted: `replay` is 0 for the live one, n for its n-th replay. */
export interface AttemptPosition {
  readonly offset: number
  readonly replay: number
}

/** Every method answers false, and changes nothing, when the fence is stale. */
export interface AttemptStore {
  /** The handler starts now: one attempt more for each, before anything else happens. */
  start(fence: Fence, positions: readonly AttemptPosition[]): Promise<boolean>
  /** The handler of this queue runs in that process from now on; it may outlive its client. */
  runsIn(fence: Fence, process: HandlerProcess | null): Promise<boolean>
  /** The handler failed: the count it has reached, why, and when it is tried again (`null`: when a person says so). */
  fail(fence: Fence, failures: readonly AttemptFailure[]): Promise<boolean>
  /** A started attempt does not count (the handler was missing, or a stop cut it short). */
  release(fence: Fence, positions: readonly AttemptPosition[]): Promise<boolean>
}

export interface AttemptFailure extends AttemptPosition {
  readonly attempts: number
  readonly lastError: string | null
  readonly nextTryAt: number | null
}

export interface RedeliveryLane {
  /** Replayed messages of the queue that wait, in the order of their original offsets. */
  pull(fence: Fence, maxMessages: number): Promise<readonly MessageExt[]>
  /** They are done. False when the fence is stale. */
  complete(fence: Fence, deadLetterIds: readonly number[]): Promise<boolean>
}

export interface AuditFilter {
  readonly topic?: string
  readonly group?: string
}

/** One broken invariant of `ARCHITECTURE.md`, with the place where it shows. */
export interface Violation {
  /** Number in the list of invariants, 1 to 9. */
  readonly invariant: number
  readonly topic: string | null
  readonly queueId: number | null
  readonly group: string | null
  readonly offset: number | null
  readonly detail: string
}

export interface AuditReport {
  readonly violations: readonly Violation[]
  readonly checked: Readonly<Record<string, number>>
}

export type BrokerNotification =
  /** Members or locks of the group changed: allocate again (40). */
  | { readonly kind: 'rebalance'; readonly group: string }
  /** Replayed messages wait in a lane of the group. */
  | { readonly kind: 'redelivery'; readonly group: string }
  /** Something a person should know, such as witnesses of a process's death that contradict each other. */
  | { readonly kind: 'notice'; readonly text: string }
