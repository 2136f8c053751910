import type { GroupMember, GroupProgress } from '../core/index.ts'
import { instant } from './cell.ts'
import { type GroupState, type GroupSummary, livingMembers } from './group-summary.ts'
import type { Style } from './style.ts'
import type { Column } from './table.ts'

const STATE_STYLES: Readonly<Record<GroupState, Style>> = { blocked: 'red', active: 'green', inactive: 'dim' }

export const groupColumns: readonly Column<GroupSummary>[] = [
  { header: 'GROUP', value: (group) => group.config.group, style: () => 'bold' },
  { header: 'TOPICS', value: (group) => group.topics.join(',') || null },
  { header: 'MEMBERS', value: livingMembers },
  { header: 'LAG', value: (group) => group.lag, style: (group) => (group.lag > 0 ? 'yellow' : undefined) },
  { header: 'MAX_RECONSUME', value: (group) => maxReconsumeText(group.config.maxReconsumeTimes) },
  { header: 'STATE', value: (group) => group.state, style: (group) => STATE_STYLES[group.state] },
]

export const memberColumns: readonly Column<GroupMember>[] = [
  { header: 'MEMBER', value: (member) => member.clientId, style: () => 'bold' },
  { header: 'PID@HOST', value: (member) => `${member.process.pid}@${member.process.host}` },
  {
    header: 'STATE',
    value: (member) => member.state,
    style: ({ state }) => (state === 'alive' ? undefined : 'red'),
  },
  { header: 'MODE', value: (member) => member.mode },
  {
    header: 'SUBSCRIPTIONS',
    value: (member) =>
      member.subscriptions.map(({ topic, expression }) => `${topic}:${expression}`).join(','),
  },
  { header: 'STARTED', value: (member) => instant(member.startedAt) },
  { header: 'HEARTBEAT', value: (member) => instant(member.heartbeatAt) },
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

/** -1 is RocketMQ's word for the default of the mode. */
export function maxReconsumeText(maxReconsumeTimes: number): string {
  return maxReconsumeTimes === -1 ? 'unlimited' : String(maxReconsumeTimes)
}
