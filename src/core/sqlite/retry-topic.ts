import { BODY_BYTES_MAX } from '../model/limits.ts'
import { retryTopicOf } from '../model/names.ts'
import type { Queues } from './tables/queues.ts'
import type { Topics } from './tables/topics.ts'

/**
 * Makes the topic through which a group's failed messages come again, if it is not there: one queue, as RocketMQ's
 * `retryQueueNums` (`ClientManageProcessor.heartBeat`). Its name may be longer than that of a user's topic. Inside a
 * write job.
 */
export function ensureRetryTopic(
  { topics, queues }: { readonly topics: Topics; readonly queues: Queues },
  group: string,
  createdAt: number,
): void {
  const name = retryTopicOf(group)
  if (topics.byName(name) !== undefined) return
  const settings = { queues: 1, hash: 'java', retentionMs: null, maxBody: BODY_BYTES_MAX, perm: 6 } as const
  const topic = topics.insert({ name, ...settings, createdAt })
  if (topic !== undefined) queues.create(topic.id, 0)
}
