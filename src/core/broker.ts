import type { AuditFilter, AuditReport } from './model/audit.ts'
import type { DeadLetter, DeadLetterFilter, ReplayOutcome } from './model/dead-letter.ts'
import type { Delivery, DeliveryOrdering, JournalEntry } from './model/delivery.ts'
import type { DoneRange } from './model/done-ranges.ts'
import type {
  GroupChange,
  GroupConfig,
  GroupMember,
  GroupProgress,
  GroupSpec,
  MemberHeartbeat,
  Subscription,
} from './model/group.ts'
import type { HandlerProcess, LockGrant, QueueLock } from './model/lock.ts'
import type { Message, MessageExt, SendReceipt } from './model/message.ts'
import type { MessageQueue } from './model/message-queue.ts'
import type { ResetCount } from './model/offset-reset.ts'
import type { Runtime } from './model/runtime.ts'
import type { Barrier, QueueStats, TopicChange, TopicConfig, TopicSpec } from './model/topic.ts'

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
  /**
   * Queues that can be read, in RocketMQ's order (105); none of a topic that is write only. Dropped queues are among
   * them while they hold messages; for a group only while it has something to do there, so that its members share
   * the others evenly.
   */
  subscribeQueues(topic: string, group?: string): Promise<readonly MessageQueue[]>

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
  /** The message of that id, if it is still stored (33, 12). MESSAGE_NOT_FOUND, with the time, while it is delayed. */
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

  /**
   * Takes or renews locks, each for itself (41). `ttlMs` counts only where the broker lets a client choose it.
   * With `epochs`, one for each queue, it only renews: a lock that was lost meanwhile is not taken anew, since who
   * holds it goes on from where it is, and not from where the group is.
   */
  lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
    epochs?: readonly number[],
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

  /** How far the group is in each queue of the topic; queues that it never started are absent (14). */
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

  /** How far one member of a broadcasting group is: RocketMQ keeps that in a file of each client. */
  localOffsets(group: string, clientId: string, topic: string): Promise<readonly QueueOffset[]>
  /** Stores how far a member of a broadcasting group is. Needs no lock: nobody else writes it. */
  commitLocalOffsets(group: string, clientId: string, offsets: readonly QueueOffset[]): Promise<void>

  // Groups

  groupConfig(group: string): Promise<GroupConfig | undefined>
  listGroups(options?: { readonly all?: boolean }): Promise<readonly GroupConfig[]>
  /** Topics that a group consumes or has consumed. */
  groupTopics(group: string): Promise<readonly string[]>
  progress(group: string, topic?: string): Promise<readonly GroupProgress[]>

  // Failures

  /**
   * Moves failed messages to the group's retry topic, each after its delay, and marks them as done in their queue,
   * in one step where the broker can (36). False when the lock was lost: nothing was moved.
   */
  sendBack(fence: Fence, failures: readonly FailedMessage[]): Promise<boolean>
  /**
   * Moves messages to the dead letters of the group and marks them as done in their queue, in one step where the
   * broker can; `commitTo` also moves the committed offset. False when the lock was lost: nothing was moved.
   * A replayed message returns to its own entry. `parkKeys` parks the keys of these messages in the same step.
   */
  deadLetter(
    fence: Fence,
    letters: readonly DeadMessage[],
    commitTo: number | null,
    options?: { readonly parkKeys?: boolean },
  ): Promise<boolean>
  readonly deadLetters: DeadLetterStore
  /** Keys whose messages follow a dead one. Absent: the broker cannot hold a key back. */
  readonly parkedKeys?: ParkedKeys

  /** What people change by command. */
  readonly admin: BrokerAdmin

  /** Attempts that survive a crash and a change of owner. Absent: the client counts in its memory, as RocketMQ's does. */
  readonly attempts?: AttemptStore
  /** Replayed messages in front of a queue. Absent: a replay is an ordinary send. */
  readonly redelivery?: RedeliveryLane
  /** Checks the invariants on what is stored. */
  readonly audit?: (filter: AuditFilter) => Promise<AuditReport>
  /** A record of deliveries, for groups that want one. Absent: the broker keeps none. */
  readonly journal?: DeliveryJournal

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
  /** Members of a concurrent group lock their queues too, so that what they settle is fenced. */
  readonly concurrentLocks: boolean
}

/** Messages for one queue: they get contiguous offsets, in this order. */
export interface SendGroup {
  readonly mq: MessageQueue
  /** All of them delayed, or none. */
  readonly messages: readonly Message[]
  /** How many queues the selector of a key chose from. ROUTE_CHANGED when the topic has another number by now. */
  readonly queues?: number
}

export interface PullRequest {
  /** Absent for a look that belongs to no group (`peek`). With it, `reconsumeTimes` counts the group's stored attempts. */
  readonly group?: string
  readonly mq: MessageQueue
  readonly offset: number
  readonly maxMessages: number
  /** Default: everything. */
  readonly subscription?: Subscription
  /** Of a consumer that keeps order: messages behind a barrier that the group has not passed are held back. */
  readonly ordered?: boolean
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
  /** The next offset to consume: everything below is done with. */
  readonly offset: number
  /** What is done with beyond it: ascending, disjoint. Absent or empty: nothing. */
  readonly ahead?: readonly DoneRange[]
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

/** A message that is to come again later. */
export interface FailedMessage extends DeadMessage {
  /** Milliseconds until it comes again; RocketMQ's delay level of the attempt where the handler asked for nothing else. */
  readonly delayMs: number
}

/** `reopened`: none of these keys is parked any more, and nothing was moved. */
export type ParkOutcome = 'parked' | 'reopened' | 'lost'

export interface ParkedKeys {
  /** Keys of the queue that are parked now. */
  list(fence: Fence): Promise<readonly string[]>
  /**
   * Moves messages of parked keys behind the dead letter of their key, in the state `parked`, and marks them as done.
   * All or none: `reopened` when a key of them is no longer parked.
   */
  park(fence: Fence, messages: readonly MessageExt[], commitTo: number | null): Promise<ParkOutcome>
}

/** Administration. Every change is durable when its promise resolves. */
export interface BrokerAdmin {
  /** Changes a topic (17). A change of the number of queues raises a barrier. TOPIC_NOT_FOUND, INVALID_ARGUMENT. */
  alterTopic(topic: string, change: TopicChange): Promise<TopicConfig>
  /** Deletes a topic with its messages and every group's offsets on it (215). GROUP_ACTIVE while members consume it. */
  deleteTopic(topic: string): Promise<void>
  /** Barriers of a topic that some group has not passed yet, oldest first. */
  barriers(topic: string): Promise<readonly Barrier[]>
  /** Creates a group (200). GROUP_EXISTS. */
  createGroup(spec: GroupSpec): Promise<GroupConfig>
  alterGroup(group: string, change: GroupChange): Promise<GroupConfig>
  /** Deletes a group with its offsets, attempts and dead letters (207). GROUP_ACTIVE while it has members. */
  deleteGroup(group: string): Promise<void>
  /**
   * Moves committed offsets wherever they shall be (222). GROUP_ACTIVE while members live, unless `force`: then their
   * locks are taken away, so that late commits of theirs are refused. GROUP_CONFLICT for a broadcasting group.
   * Offsets are brought within the queue's bounds; what was done with beyond them is forgotten (`ahead` is ignored).
   */
  resetOffsets(
    group: string,
    offsets: readonly QueueOffset[],
    options: { readonly force: boolean },
  ): Promise<readonly OffsetReset[]>
}

export interface OffsetReset extends ResetCount {
  readonly mq: MessageQueue
  /** `null`: the group had none. */
  readonly from: number | null
  readonly to: number
}

export interface DeliveryJournal {
  /**
   * Adds what happened to one batch to the record; kept also when the fence is stale, since it says what happened.
   * `ordering` is what the consumer keeps in order, and what an audit holds it to.
   */
  record(fence: Fence, deliveries: readonly Delivery[], ordering: DeliveryOrdering): Promise<void>
  /** What is recorded of a message, in the order in which it happened. The oldest records go when there are many. */
  read(msgId: string, group?: string): Promise<readonly JournalEntry[]>
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
  /**
   * Deletes dead letters for good, and reopens parked keys that have none left. Answers how many were there;
   * one that waits in the redelivery lane is not purged.
   */
  purge(deadLetters: readonly DeadLetter[]): Promise<number>
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
  /**
   * A handler of this queue runs in that process from now on; it may outlive its client. Of handlers that run at once
   * each has a slot of its own, from 0 (the default); what was recorded in the slot before is forgotten.
   */
  runsIn(fence: Fence, process: HandlerProcess, slot?: number): Promise<boolean>
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

export type BrokerNotification =
  /** Members or locks of the group changed: allocate again (40). */
  | { readonly kind: 'rebalance'; readonly group: string }
  /** Replayed messages wait in a lane of the group. */
  | { readonly kind: 'redelivery'; readonly group: string }
  /** Something a person should know, such as witnesses of a process's death that contradict each other. */
  | { readonly kind: 'notice'; readonly text: string }
