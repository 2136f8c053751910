import { applySettlement, type BatchEnd, positionOf, putBack } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import { runHandler } from './handler-run.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { ProcessQueueEntry } from './process-queue.ts'
import { mayStart, settle } from './settlement.ts'

/**
 * Takes the next batch of a queue through its handler to its settlement. `allowed` messages were taken from the
 * quota; what does not pass is given back.
 */
export async function runBatch(
  queue: OwnedQueue,
  services: ConsumeServices,
  allowed: number,
): Promise<BatchEnd> {
  const batch = queue.processQueue.takeMessages(allowed)
  services.quota.giveBack(allowed - batch.length)
  const attempts = batch[0]?.attempts ?? 0
  const start = mayStart(attempts, services.policy)
  if (start !== 'run') {
    const error = `its consumer ended while handling it; ${attempts} attempts were begun`
    return applySettlement(queue, services, { batch, attempts, error, isStored: true }, { kind: start })
  }

  const isStored = needsStoredStart(queue, services, batch)
  if (!(await storeStart(queue, services, batch, isStored))) {
    services.lockLost(queue, false)
    return putBack(queue, services, { batch })
  }
  if (queue.isDropped) {
    return applySettlement(queue, services, { batch, attempts, error: null, isStored }, { kind: 'release' })
  }

  const run = await runHandler(
    queue,
    services,
    batch.map(({ message }) => message),
    attempts + 1,
  )
  if (run.outcome.kind === 'failed' || run.outcome.kind === 'rejected') services.counters.failed++
  const settlement = settle(run.outcome, attempts + 1, services.policy)
  const settled = { batch, attempts: attempts + 1, error: run.error, isStored }
  const end = await applySettlement(queue, services, settled, settlement)
  if (run.fatal !== undefined) services.fail(run.fatal)
  return end
}

/**
 * Whether each start has to be stored before it happens: where the handler is a process (it is slow enough, and
 * may outlive us), where an owner died with messages in work, and where a message has failed before.
 */
function needsStoredStart(
  queue: OwnedQueue,
  { broker, handler }: ConsumeServices,
  batch: readonly ProcessQueueEntry[],
): boolean {
  const first = batch[0]
  if (!broker.attempts || !first) return false
  return (
    handler.kind === 'process' ||
    first.attempts > 0 ||
    first.message.redelivery !== undefined ||
    first.message.queueOffset < queue.carefulUntil
  )
}

/** Answers false when the lock is lost. */
async function storeStart(
  queue: OwnedQueue,
  { broker, offsets }: ConsumeServices,
  batch: readonly ProcessQueueEntry[],
  isStored: boolean,
): Promise<boolean> {
  if (isStored) return (await broker.attempts?.start(queue.fence, batch.map(positionOf))) ?? true
  const last = batch.at(-1)?.message
  while (last && !queue.isDropped && offsets.isBeyondSpan(queue.mq, last.queueOffset)) await offsets.flush()
  return !queue.isLost
}
