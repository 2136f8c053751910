import type { Broker, GroupConfig, GroupMember, GroupProgress } from '../core/index.ts'
import { isoTime } from './records.ts'

/** A group with all that is known of it. */
export interface GroupSummary {
  readonly config: GroupConfig
  readonly topics: readonly string[]
  readonly members: readonly GroupMember[]
  readonly progress: readonly GroupProgress[]
  readonly lag: number
  readonly state: GroupState
}

/** `blocked`: a head fails or waits for a person. `active`: members live. `inactive`: nobody consumes. */
export type GroupState = 'blocked' | 'active' | 'inactive'

export async function summarizeGroup(broker: Broker, config: GroupConfig): Promise<GroupSummary> {
  const [topics, members, progress] = await Promise.all([
    broker.groupTopics(config.group),
    broker.members(config.group),
    broker.progress(config.group),
  ])
  return {
    config,
    topics,
    members,
    progress,
    lag: progress.reduce((sum, queue) => sum + queue.lag, 0),
    state: stateOf(members, progress),
  }
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
    state: summary.state,
  }
}

/** As `groups describe` prints it: the same, and each member and queue. */
export function groupDetailRecord(summary: GroupSummary) {
  return {
    ...groupRecord(summary),
    suspendMs: summary.config.suspendMs,
    consumeEnable: summary.config.consumeEnable,
    createdAt: isoTime(summary.config.createdAt),
    memberList: summary.members.map((member) => ({
      clientId: member.clientId,
      pid: member.process.pid,
      host: member.process.host,
      state: member.state,
      mode: member.mode,
      subscriptions: member.subscriptions,
      lockTtlMs: member.lockTtlMs,
      startedAt: isoTime(member.startedAt),
      heartbeatAt: isoTime(member.heartbeatAt),
    })),
    queues: summary.progress.map((queue) => ({ ...offsetRecord(queue), blocked: blockedRecord(queue) })),
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
