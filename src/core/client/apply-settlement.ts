import type { AttemptPosition } from '../broker.ts'
import { invariant } from '../model/errors.ts'
import { CACHED_MESSAGES_PER_QUEUE_MAX, PULL_BATCH_MAX } from '../model/limits.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { ProcessQueueEntry } from './process-queue.ts'
import type { Settlement } from './settlement.ts'

/** What the consume loop does after a batch. */
export type BatchEnd =
  | { readonly kind: 'passed' }
  | { readonly kind: 'suspended'; readonly afterMs: number }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'stopped' }

/** A batch that ran, or could not be started any more. */
export interface Settled {
  readonly batch: readonly ProcessQueueEntry[]
  /** With the run that just ended. */
  readonly attempts: number
  readonly error: string | null
  /** Its start was stored, so its end must be, too. */
  readonly isStored: boolean
}

const PASSED: BatchEnd = { kind: 'passed' }
const STOPPED: BatchEnd = { kind: 'stopped' }

/** Carries out a settlement at the broker, in the cache and in the counters: the one place that does. */
export function applySettlement(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
): BatchEnd | Promise<BatchEnd> {
  // Only what has to be stored now waits for the broker; an ordinary commit rides with the next flush.
  if (settlement.kind === 'commit' && !settled.isStored) return conclude(queue, services, settled, settlement)
  return store(queue, services, settled, settlement).then((isStored) => {
    if (isStored) return conclude(queue, services, settled, settlement)
    services.lockLost(queue, true)
    return putBack(queue, services)
  })
}

/** The broker knows: now the cache and the counters. */
function conclude(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
): BatchEnd {
  switch (settlement.kind) {
    case 'commit':
      services.counters.consumed += settled.batch.length
      return pass(queue, services)
    case 'dead-letter':
      services.counters.deadLettered += settled.batch.length
      for (const { message } of settled.batch) {
        services.emit({ kind: 'dead-lettered', message, attempts: settled.attempts, error: settled.error })
      }
      return pass(queue, services)
    case 'retry':
    case 'block':
      return stay(queue, services, settled, settlement)
    case 'release':
      return putBack(queue, services)
  }
}

/** Leaves the batch where it was: as if it had not been taken. */
export function putBack(queue: OwnedQueue, services: ConsumeServices): BatchEnd {
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain((entry) => entry.attempts))
  return STOPPED
}

function pass(queue: OwnedQueue, services: ConsumeServices): BatchEnd {
  const passed = queue.processQueue.commit()
  if (passed.lane === 'live') services.offsets.update(queue.position, passed.nextOffset)
  queue.isBlocked = false
  // Not for each message: a pull is worth its while when it can bring a whole batch.
  if (queue.processQueue.msgCount <= CACHED_MESSAGES_PER_QUEUE_MAX - PULL_BATCH_MAX) queue.roomy.raise()
  return PASSED
}

function stay(
  queue: OwnedQueue,
  services: ConsumeServices,
  { batch, attempts, error }: Settled,
  settlement: Settlement & { kind: 'retry' | 'block' },
): BatchEnd {
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain(() => attempts))
  const message = batch[0]?.message
  invariant(message, 'a settled batch has messages')
  if (settlement.kind === 'block') {
    queue.isBlocked = true
    services.emit({ kind: 'blocked', message, attempts, error })
    return { kind: 'blocked' }
  }
  const { maxReconsumeTimes: most } = services.policy
  const maxReconsumeTimes = most < 0 ? null : most
  const { afterMs } = settlement
  services.emit({ kind: 'retry', message, attempts, maxReconsumeTimes, error, afterMs })
  return { kind: 'suspended', afterMs }
}

/** Tells the broker. False when the lock is lost, and nothing was changed. */
async function store(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
): Promise<boolean> {
  const { broker, offsets } = services
  const { batch, attempts, error } = settled
  const replayed = batch.flatMap(({ message }) => message.redelivery?.deadLetterId ?? [])
  const commitTo = replayed.length > 0 ? null : nextOffset(settled)
  switch (settlement.kind) {
    case 'commit':
      if (commitTo === null) return (await broker.redelivery?.complete(queue.fence, replayed)) ?? true
      offsets.update(queue.position, commitTo)
      await offsets.flush()
      return !queue.isLost
    case 'dead-letter': {
      // What was consumed before it is stored before it.
      await offsets.flush()
      const letters = batch.map(({ message }) => ({ message, attempts, lastError: error }))
      const moved = await broker.deadLetter(queue.fence, letters, commitTo)
      if (moved && commitTo !== null) offsets.passed(queue.position, commitTo)
      return moved
    }
    case 'retry':
    case 'block': {
      await offsets.flush()
      const nextTryAt = settlement.kind === 'retry' ? broker.runtime.now() + settlement.afterMs : null
      const failures = batch.map((entry) => ({ ...positionOf(entry), attempts, lastError: error, nextTryAt }))
      return (await broker.attempts?.fail(queue.fence, failures)) ?? !queue.isLost
    }
    case 'release':
      if (!settled.isStored) return !queue.isLost
      return (await broker.attempts?.release(queue.fence, batch.map(positionOf))) ?? !queue.isLost
  }
}

export function positionOf({ message }: ProcessQueueEntry): AttemptPosition {
  return { offset: message.queueOffset, replay: message.redelivery?.replay ?? 0 }
}

function nextOffset({ batch }: Settled): number {
  const last = batch.at(-1)
  invariant(last, 'a settled batch has messages')
  return last.message.queueOffset + 1
}
