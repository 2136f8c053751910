import { formatDuration, type LockRelease, type QueueLock, type TopicConfig } from '../core/index.ts'

/** The JSON fields of the stable surface, for what the broker gives in milliseconds. */

export function topicRecord(config: TopicConfig) {
  return {
    topic: config.topic,
    queues: config.queues,
    hash: config.hash,
    retention: config.retentionMs === null ? null : formatDuration(config.retentionMs),
    maxBody: config.maxBody,
    perm: config.perm,
    createdAt: isoTime(config.createdAt),
  }
}

export function lockRecord(lock: QueueLock) {
  return {
    topic: lock.mq.topic,
    queueId: lock.mq.queueId,
    group: lock.group,
    clientId: lock.clientId,
    pid: lock.pid,
    host: lock.host,
    alive: lock.alive,
    epoch: lock.epoch,
    acquiredAt: isoTime(lock.acquiredAt),
    renewedAt: isoTime(lock.renewedAt),
    expiresAt: isoTime(lock.expiresAt),
    state: lock.state,
  }
}

export function lockReleaseRecord({ lock, outcome }: LockRelease) {
  return {
    topic: lock.mq.topic,
    queueId: lock.mq.queueId,
    group: lock.group,
    clientId: lock.clientId,
    epoch: lock.epoch,
    outcome,
  }
}

/** RFC 3339 in UTC with milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString()
}
