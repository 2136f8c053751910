import type { AttemptPosition } from '../broker.ts'
import { invariant } from '../model/errors.ts'
import type { Settled } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import { OrderlyProcessQueue } from './orderly-process-queue.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { deadLetterIds, type ProcessQueueEntry } from './process-queue.ts'
import type { Settlement } from './settlement.ts'

/** `lost`: the lock is another's, and nothing was changed. `reopened`: a key is parked no more, nor was it changed. */
export type Stored = 'stored' | 'lost' | 'reopened'

/** Tells the broker what became of a batch. */
export async function storeSettlement(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
): Promise<Stored> {
  const { broker, offsets } = services
  const { batch, attempts, error } = settled
  switch (settlement.kind) {
    case 'commit':
      // Of live messages it rides with the offsets: see `applySettlement`.
      return fenced(queue, await services.redelivery?.complete(queue.fence, deadLetterIds(batch)))
    case 'hold':
    case 'drop':
    case 'rollback':
      return queue.isLost ? 'lost' : 'stored'
    case 'dead-letter': {
      // What was consumed before it is stored before it.
      await offsets.flush()
      const letters = batch.map(({ message }) => ({ message, attempts, lastError: error }))
      const { parkKeys } = settlement
      const commitTo = commitsTo(queue, settled)
      const moved = await broker.deadLetter(queue.fence, letters, commitTo, { parkKeys })
      if (moved && commitTo !== null) offsets.passed(queue.position, commitTo)
      return moved ? 'stored' : 'lost'
    }
    case 'park': {
      await offsets.flush()
      const messages = batch.map(({ message }) => message)
      const outcome = await services.parkedKeys?.park(queue.fence, messages, commitsTo(queue, settled))
      return outcome === undefined || outcome === 'parked' ? 'stored' : outcome
    }
    case 'send-back': {
      const { delayMs } = settlement
      const failures = batch.map(({ message }) => ({ message, attempts, lastError: error, delayMs }))
      return (await broker.sendBack(queue.fence, failures)) ? 'stored' : 'lost'
    }
    case 'retry':
    case 'block': {
      await offsets.flush()
      const nextTryAt = settlement.kind === 'retry' ? broker.runtime.now() + settlement.afterMs : null
      const failures = batch.map((entry) => ({ ...positionOf(entry), attempts, lastError: error, nextTryAt }))
      return fenced(queue, await services.attempts?.fail(queue.fence, failures))
    }
    case 'release':
      if (!settled.isStored) return fenced(queue, undefined)
      return fenced(queue, await services.attempts?.release(queue.fence, batch.map(positionOf)))
  }
}

/** Where the committed offset goes when the batch is done with; `null` where earlier messages may still run. */
function commitsTo({ processQueue }: OwnedQueue, { batch }: Settled): number | null {
  if (!(processQueue instanceof OrderlyProcessQueue) || processQueue.heldCount > 0) return null
  const last = batch.at(-1)
  invariant(last, 'a settled batch has messages')
  return last.message.redelivery ? null : last.message.queueOffset + 1
}

/** `undefined`: the broker keeps no such record, so the lock is what is known here. */
function fenced(queue: OwnedQueue, isStored: boolean | undefined): Stored {
  return (isStored ?? !queue.isLost) ? 'stored' : 'lost'
}

export function positionOf({ message }: ProcessQueueEntry): AttemptPosition {
  return { offset: message.queueOffset, replay: message.redelivery?.replay ?? 0 }
}
