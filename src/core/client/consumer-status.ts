import type { ConsumerStatus } from '../model/group.ts'
import type { ConsumerStats } from './consumer-stats.ts'
import type { OwnedQueue } from './owned-queue.ts'

/** What a member tells of itself. */
export function consumerStatus(owned: readonly OwnedQueue[], stats: ConsumerStats): ConsumerStatus {
  return {
    queues: owned.map(({ mq, processQueue, flowControl }) => ({
      mq,
      cachedMessages: processQueue.msgCount,
      cachedBytes: processQueue.msgSize,
      consuming: processQueue.consuming,
      flowControl,
    })),
    topics: stats.topics(),
  }
}
