import {
  type Broker,
  type ConsumeMode,
  type GroupConfig,
  type GroupMember,
  type GroupProgress,
  isSystemTopic,
  retryTopicOf,
} from '../core/index.ts'
import { broadcastProgress } from './broadcast-progress.ts'
import { memberRecord } from './member-records.ts'
import { isoTime } from './records.ts'

/** A group with all that is known of it. */
export interface GroupSummary {
  readonly config: GroupConfig
  /** Without system topics, unless they were asked for. */
  readonly topics: readonly string[]
  readonly members: readonly GroupMember[]
  /** Of these topics; of a broadcasting group one row a member and queue. */
  readonly progress: readonly GroupProgress[]
  /** What failed and comes again by the group's retry topic; `null` when it has none. */
  readonly retry: RetryProgress | null
  /** Messages that wait, those in the retry topic too; what is scheduled is not there yet. */
  readonly lag: number
  readonly state: GroupState
}

export interface RetryProgress {
  readonly topic: string
  /** Due: the next free member takes it. */
  readonly waiting: number
  /** Their delay is not over. */
  readonly scheduled: number
}

/**
 * `disabled`: its members get nothing until it is enabled. `blocked`: a head fails or waits for a person. `active`:
 * members live. `inactive`: nobody consumes.
 */
export type GroupState = 'disabled' | 'blocked' | 'active' | 'inactive'

/** Everything of a group. `all`: system topics, such as its retry topic, are listed too. */
export async function summarizeGroup(
  broker: Broker,
  config: GroupConfig,
  { all = false }: { readonly all?: boolean } = {},
): Promise<GroupSummary> {
  const { group } = config
  const [topics, members, stored] = await Promise.all([
    broker.groupTopics(group),
    broker.members(group),
    broker.progress(group),
  ])
  const retryQueues = await retryProgress(broker, group, stored)
  const isShown = (topic: string) => all || !isSystemTopic(topic)
  const shown = stored.filter(({ mq }) => isShown(mq.topic))
  const progress = isBroadcasting(members) ? await broadcastProgress(broker, members, shown) : shown
  const hidden = retryQueues.filter((queue) => !progress.includes(queue))
  return {
    config,
    topics: topics.filter(isShown),
    members,
    progress,
    retry: retryOf(group, retryQueues),
    lag: sumOf([...progress, ...hidden], 'lag'),
    state: config.consumeEnable ? stateOf(members, [...progress, ...hidden]) : 'disabled',
  }
}

/** The queues of the retry topic, also when no member subscribes to it now: what was sent back waits there. */
async function retryProgress(
  broker: Broker,
  group: string,
  stored: readonly GroupProgress[],
): Promise<readonly GroupProgress[]> {
  const topic = retryTopicOf(group)
  const known = stored.filter(({ mq }) => mq.topic === topic)
  if (known.length > 0 || !(await broker.topicConfig(topic))) return known
  return broker.progress(group, topic)
}

function retryOf(group: string, queues: readonly GroupProgress[]): RetryProgress | null {
  if (queues.length === 0) return null
  return {
    topic: retryTopicOf(group),
    waiting: sumOf(queues, 'lag'),
    scheduled: sumOf(queues, 'scheduled'),
  }
}

function sumOf(queues: readonly GroupProgress[], field: 'lag' | 'scheduled'): number {
  return queues.reduce((sum, queue) => sum + queue[field], 0)
}

export function isBroadcasting(members: readonly GroupMember[]): boolean {
  return members.some(({ state, messageModel }) => state === 'alive' && messageModel === 'broadcasting')
}

/** How the living members consume; `undefined` when there is none to tell. */
export function modeOf({ members }: GroupSummary): ConsumeMode | undefined {
  return members.find(({ state }) => state === 'alive')?.mode
}

function stateOf(members: readonly GroupMember[], progress: readonly GroupProgress[]): GroupState {
  if (progress.some((queue) => queue.blocked)) return 'blocked'
  return members.some((member) => member.state === 'alive') ? 'active' : 'inactive'
}

/** As `groups list` prints it; `members` counts the living ones. */
export function groupRecord(summary: GroupSummary) {
  return {
    group: summary.config.group,
    topics: summary.topics,
    members: livingMembers(summary),
    lag: summary.lag,
    maxReconsume: summary.config.maxReconsumeTimes,
    suspendMs: summary.config.suspendMs,
    consumeEnable: summary.config.consumeEnable,
    trace: summary.config.trace,
    state: summary.state,
  }
}

/** As `groups describe` prints it: the same, and each member and queue. */
export function groupDetailRecord(summary: GroupSummary) {
  return {
    ...groupRecord(summary),
    createdAt: isoTime(summary.config.createdAt),
    memberList: summary.members.map(memberRecord),
    queues: summary.progress.map((queue) => ({
      ...offsetRecord(queue),
      scheduled: queue.scheduled,
      blocked: blockedRecord(queue),
    })),
    retry: summary.retry,
  }
}

export function livingMembers(summary: GroupSummary): number {
  return summary.members.filter((member) => member.state === 'alive').length
}

/** As `offsets list` prints it. */
export function offsetRecord(queue: GroupProgress) {
  return {
    topic: queue.mq.topic,
    queueId: queue.mq.queueId,
    minOffset: queue.minOffset,
    committedOffset: queue.committedOffset,
    maxOffset: queue.maxOffset,
    lag: queue.lag,
    owner: queue.owner,
  }
}

function blockedRecord({ blocked }: GroupProgress) {
  if (!blocked) return null
  return { ...blocked, nextTryAt: blocked.nextTryAt === null ? null : isoTime(blocked.nextTryAt) }
}
