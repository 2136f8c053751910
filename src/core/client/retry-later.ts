import { PULL_RETRY_MS, SEND_BACK_RETRY_MS } from '../model/limits.ts'
import type { BatchEnd } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import { isTransient } from './pull-loop.ts'

/** A store that is busy beyond its bound is no reason to end: the batch is taken again later. */
export function retryLater(
  error: unknown,
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
): BatchEnd {
  if (!isTransient(error)) throw error
  services.emit({ kind: 'notice', text: error.message })
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain(batch, (entry) => entry.attempts))
  const isConcurrent = services.policy.mode === 'concurrent'
  return { kind: 'suspended', afterMs: isConcurrent ? SEND_BACK_RETRY_MS : PULL_RETRY_MS }
}
