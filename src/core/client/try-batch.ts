import type { BatchEnd } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import { retryLater } from './retry-later.ts'
import { runBatch } from './run-batch.ts'

/** `runBatch`, where a store that is busy beyond its bound is no reason to end: the batch is taken again later. */
export function tryBatch(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
): BatchEnd | Promise<BatchEnd> {
  const end = runBatch(queue, services, batch)
  return end instanceof Promise ? end.catch((error) => retryLater(error, queue, services, batch)) : end
}
