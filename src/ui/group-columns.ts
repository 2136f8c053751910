import {
  CONCURRENT_RECONSUME_TIMES_MAX,
  type ConsumeMode,
  formatDuration,
  type GroupMember,
  type GroupProgress,
  isSystemTopic,
} from '../core/index.ts'
import { instant } from './cell.ts'
import { type GroupState, type GroupSummary, livingMembers, modeOf } from './group-summary.ts'
import { flowControlText, memberRates, type PausedQueue } from './member-records.ts'
import type { Style } from './style.ts'
import type { Column } from './table.ts'

const STATE_STYLES: Readonly<Record<GroupState, Style>> = {
  disabled: 'yellow',
  blocked: 'red',
  active: 'green',
  inactive: 'dim',
}

export const groupColumns: readonly Column<GroupSummary>[] = [
  { header: 'GROUP', value: (group) => group.config.group, style: () => 'bold' },
  { header: 'TOPICS', value: (group) => group.topics.join(',') || null },
  { header: 'MEMBERS', value: livingMembers },
  { header: 'LAG', value: (group) => group.lag, style: (group) => (group.lag > 0 ? 'yellow' : undefined) },
  {
    header: 'MAX_RECONSUME',
    value: (group) => maxReconsumeText(group.config.maxReconsumeTimes, modeOf(group)),
  },
  { header: 'STATE', value: (group) => group.state, style: (group) => STATE_STYLES[group.state] },
  { header: 'SUSPEND', value: (group) => formatDuration(group.config.suspendMs), onlyWide: true },
  { header: 'TRACE', value: (group) => group.config.trace, onlyWide: true },
]

export const memberColumns: readonly Column<GroupMember>[] = [
  { header: 'MEMBER', value: (member) => member.clientId, style: () => 'bold' },
  {
    header: 'STATE',
    value: (member) => member.state,
    style: ({ state }) => (state === 'alive' ? undefined : 'red'),
  },
  { header: 'MODE', value: (member) => member.mode },
  { header: 'OK/S', value: (member) => memberRates(member)?.okTps ?? null },
  {
    header: 'FAILED/S',
    value: (member) => memberRates(member)?.failedTps ?? null,
    style: (member) => (memberRates(member)?.failedTps ? 'yellow' : undefined),
  },
  { header: 'RT_MS', value: (member) => memberRates(member)?.rtMs ?? null },
  { header: 'HEARTBEAT', value: (member) => instant(member.heartbeatAt) },
  { header: 'MODEL', value: (member) => member.messageModel, onlyWide: true },
  { header: 'ALLOCATE', value: (member) => member.allocate, onlyWide: true },
  { header: 'STARTED', value: (member) => instant(member.startedAt), onlyWide: true },
  {
    header: 'PID@HOST',
    value: (member) => `${member.process.pid}@${member.process.host}`,
    onlyWide: true,
  },
  {
    header: 'SUBSCRIPTIONS',
    value: (member) =>
      member.subscriptions
        .filter(({ topic }) => !isSystemTopic(topic))
        .map(({ topic, expression }) => `${topic}:${expression}`)
        .join(','),
    onlyWide: true,
  },
]

/** How far the group is in each queue, with what is still to come. */
export const groupQueueColumns: readonly Column<GroupProgress>[] = [
  { header: 'TOPIC', value: (queue) => queue.mq.topic },
  { header: 'QUEUE', value: (queue) => queue.mq.queueId },
  { header: 'MIN', value: (queue) => queue.minOffset, onlyWide: true },
  { header: 'COMMITTED', value: (queue) => queue.committedOffset },
  { header: 'MAX', value: (queue) => queue.maxOffset },
  { header: 'LAG', value: (queue) => queue.lag, style: (queue) => (queue.lag > 0 ? 'yellow' : undefined) },
  { header: 'SCHEDULED', value: (queue) => queue.scheduled },
  { header: 'OWNER', value: (queue) => queue.owner },
]

/** Queues whose member pulls no more for now, since it has enough to do. */
export const pausedColumns: readonly Column<PausedQueue>[] = [
  { header: 'FLOW_CONTROL', value: ({ queue }) => `${queue.mq.topic}:${queue.mq.queueId}` },
  { header: 'WHY', value: ({ queue }) => flowControlText(queue), style: () => 'yellow', whole: true },
  { header: 'IN_WORK', value: ({ queue }) => queue.consuming },
  { header: 'MEMBER', value: ({ member }) => member.clientId },
]

/** Queues whose head fails. */
export const blockedColumns: readonly Column<GroupProgress>[] = [
  { header: 'BLOCKED', value: (queue) => `${queue.mq.topic}:${queue.mq.queueId}`, style: () => 'red' },
  { header: 'OFFSET', value: (queue) => queue.blocked?.queueOffset ?? null },
  { header: 'KEY', value: (queue) => queue.blocked?.key ?? null },
  { header: 'ATTEMPTS', value: (queue) => queue.blocked?.attempts ?? null },
  { header: 'NEXT_TRY', value: (queue) => instant(queue.blocked?.nextTryAt ?? null) },
  { header: 'LAST_ERROR', value: (queue) => queue.blocked?.lastError ?? null },
]

/** -1 is RocketMQ's word for the default of the mode: the number that holds, where the mode is known. */
export function maxReconsumeText(maxReconsumeTimes: number, mode: ConsumeMode | undefined): string {
  if (maxReconsumeTimes !== -1) return String(maxReconsumeTimes)
  if (mode === 'concurrent') return String(CONCURRENT_RECONSUME_TIMES_MAX)
  return mode === 'orderly' ? 'unlimited' : 'default'
}
