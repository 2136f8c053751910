import type { GroupProgress, QueueLock, QueueStats, TopicConfig } from '../core/index.ts'
import { formatDuration, formatSize } from '../core/index.ts'
import { instant } from './cell.ts'
import type { Column } from './table.ts'

/** Columns of the tables that more than one command shows. */

export const topicColumns: readonly Column<TopicConfig>[] = [
  { header: 'TOPIC', value: (topic) => topic.topic, style: () => 'bold' },
  { header: 'QUEUES', value: (topic) => topic.queues },
  { header: 'HASH', value: (topic) => topic.hash },
  {
    header: 'RETENTION',
    value: (topic) => (topic.retentionMs === null ? 'none' : formatDuration(topic.retentionMs)),
  },
  { header: 'MAX_BODY', value: (topic) => formatSize(topic.maxBody) },
  { header: 'PERM', value: (topic) => topic.perm },
  { header: 'CREATED', value: (topic) => instant(topic.createdAt) },
]

export const queueStatsColumns: readonly Column<QueueStats>[] = [
  { header: 'QUEUE', value: (queue) => queue.mq.queueId },
  { header: 'MIN', value: (queue) => queue.minOffset },
  { header: 'MAX', value: (queue) => queue.maxOffset },
  { header: 'MESSAGES', value: (queue) => queue.maxOffset - queue.minOffset },
  { header: 'SCHEDULED', value: (queue) => queue.scheduled },
]

export const progressColumns: readonly Column<GroupProgress>[] = [
  { header: 'TOPIC', value: (queue) => queue.mq.topic },
  { header: 'QUEUE', value: (queue) => queue.mq.queueId },
  { header: 'MIN', value: (queue) => queue.minOffset },
  { header: 'COMMITTED', value: (queue) => queue.committedOffset },
  { header: 'MAX', value: (queue) => queue.maxOffset },
  { header: 'LAG', value: (queue) => queue.lag, style: (queue) => (queue.lag > 0 ? 'yellow' : undefined) },
  { header: 'OWNER', value: (queue) => queue.owner },
]

export const lockColumns: readonly Column<QueueLock>[] = [
  { header: 'TOPIC', value: (lock) => lock.mq.topic },
  { header: 'QUEUE', value: (lock) => lock.mq.queueId },
  { header: 'GROUP', value: (lock) => lock.group },
  { header: 'OWNER', value: (lock) => lock.clientId, style: () => 'bold' },
  { header: 'PID@HOST', value: (lock) => `${lock.pid}@${lock.host}` },
  { header: 'ALIVE', value: (lock) => lock.alive, style: (lock) => (lock.alive ? undefined : 'red') },
  { header: 'EPOCH', value: (lock) => lock.epoch },
  { header: 'HELD', value: (lock) => instant(lock.acquiredAt) },
  { header: 'RENEWED', value: (lock) => instant(lock.renewedAt) },
  { header: 'EXPIRES', value: (lock) => instant(lock.expiresAt) },
]
