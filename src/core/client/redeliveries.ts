import { PULL_BATCH_MAX } from '../model/limits.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'

/**
 * Looks for replayed messages, which go in front of the live ones since they were there first; and which keys are
 * parked. The keys are read first: a key that is opened in between has its messages in the lane by then.
 */
export async function fetchRedeliveries(queue: OwnedQueue, services: ConsumeServices): Promise<void> {
  queue.redeliveryPending = false
  queue.isLookingForRedeliveries = true
  try {
    await look(queue, services)
  } finally {
    queue.isLookingForRedeliveries = false
  }
}

async function look(queue: OwnedQueue, { redelivery, parkedKeys }: ConsumeServices): Promise<void> {
  if (parkedKeys) queue.parkedKeys = new Set(await parkedKeys.list(queue.fence))
  if (!redelivery) return
  const { processQueue } = queue
  // None of those that are here may start: the page grows until there is one that may, or all are here.
  if (processQueue.needsRedeliveries) {
    const here = processQueue.redeliveredCount
    queue.redeliveryPage = Math.max(here + PULL_BATCH_MAX, 2 * here)
  }
  const messages = await redelivery.pull(queue.fence, queue.redeliveryPage)
  if (queue.isDropped) return
  processQueue.putRedeliveries(messages, messages.length < queue.redeliveryPage)
}
