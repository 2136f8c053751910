import { invariant } from '../model/errors.ts'
import { CACHED_MESSAGES_PER_QUEUE_MAX, PULL_BATCH_MAX } from '../model/limits.ts'
import type { ConsumeServices } from './consume-services.ts'
import { journalEnd } from './journal.ts'
import { OrderlyProcessQueue } from './orderly-process-queue.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { type Batch, deadLetterIds } from './process-queue.ts'
import { reconsumeTimesMax, type Settlement } from './settlement.ts'
import { type Stored, storeSettlement } from './store-settlement.ts'

export { positionOf } from './store-settlement.ts'

/** What the consume loop does after a batch. */
export type BatchEnd =
  | { readonly kind: 'passed' }
  | { readonly kind: 'suspended'; readonly afterMs: number }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'stopped' }

/** A batch that ran, or could not be started any more. */
export interface Settled {
  readonly batch: Batch
  /** With the run that just ended. */
  readonly attempts: number
  readonly error: string | null
  /** Its start was stored, so its end must be, too. */
  readonly isStored: boolean
}

const COMMIT: Settlement = { kind: 'commit' }
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
  const isLight = settlement.kind === 'commit' || settlement.kind === 'hold' || settlement.kind === 'drop'
  if (isLight && !settled.isStored) return conclude(queue, services, settled, settlement)
  if (settlement.kind === 'commit' && deadLetterIds(settled.batch).length === 0) {
    return concludeStored(queue, services, settled)
  }
  return storeSettlement(queue, services, settled, settlement).then((stored) =>
    afterStore(queue, services, settled, settlement, stored),
  )
}

/**
 * A commit behind a stored start. Nobody waits for it: where order is kept it is stored at once, together with the start
 * of what comes next. Elsewhere the flush that follows stores it, with what the other runs came to.
 */
function concludeStored(queue: OwnedQueue, services: ConsumeServices, settled: Settled): BatchEnd {
  if (queue.isLost) return afterStore(queue, services, settled, COMMIT, 'lost')
  const end = conclude(queue, services, settled, COMMIT)
  if (queue.processQueue instanceof OrderlyProcessQueue) void services.offsets.flush()
  return end
}

function afterStore(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
  stored: Stored,
): BatchEnd {
  switch (stored) {
    case 'stored':
      return conclude(queue, services, settled, settlement)
    case 'lost':
      services.lockLost(queue, true)
      return putBack(queue, services, settled.batch)
    case 'reopened':
      // The key was opened meanwhile: its replayed messages are in front of this one now.
      queue.redeliveryPending = true
      putBack(queue, services, settled.batch)
      return { kind: 'suspended', afterMs: 0 }
  }
}

/** The broker knows: now the cache and the counters. */
function conclude(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement,
): BatchEnd {
  const { counters } = services
  const { batch, attempts, error } = settled
  if (services.journal) journalEnd(queue, services, settled, settlement)
  switch (settlement.kind) {
    case 'commit':
      counters.consumed += batch.length
      return pass(queue, services, batch)
    case 'hold':
      counters.consumed += batch.length
      return hold(queue, services, batch)
    case 'rollback':
      return rollback(queue, services, settled, settlement.afterMs)
    case 'dead-letter':
      counters.deadLettered += batch.length
      if (settlement.parkKeys) {
        queue.parkedKeys = withKeys(queue.parkedKeys, batch)
        // Those that were replayed behind it have left the lane.
        if (batch[0]?.message.redelivery) queue.redeliveryPending = true
      }
      for (const { message } of batch) services.emit({ kind: 'dead-lettered', message, attempts, error })
      return pass(queue, services, batch)
    case 'park':
      counters.parked += batch.length
      for (const { message } of batch) services.emit({ kind: 'parked', message })
      return pass(queue, services, batch)
    case 'send-back': {
      counters.sentBack += batch.length
      // It has not left the group: `--count` does not count it yet.
      services.quota.giveBack(batch.length)
      emitRetries(services, settled, settlement.delayMs)
      return pass(queue, services, batch)
    }
    case 'drop':
      counters.dropped += batch.length
      for (const { message } of batch) services.emit({ kind: 'dropped', message, attempts, error })
      return pass(queue, services, batch)
    case 'retry':
    case 'block':
      return stay(queue, services, settled, settlement)
    case 'release':
      return putBack(queue, services, batch)
  }
}

/** Leaves the batch where it was: as if it had not been taken. */
export function putBack(queue: OwnedQueue, services: ConsumeServices, batch: Batch): BatchEnd {
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain(batch, (entry) => entry.attempts))
  return STOPPED
}

function pass(queue: OwnedQueue, services: ConsumeServices, batch: Batch): BatchEnd {
  const passed = queue.processQueue.commit(batch)
  if (passed.lane === 'live') services.offsets.update(queue.position, passed.nextOffset)
  queue.isBlocked = false
  if (queue.flowControl || queue.processQueue.msgCount === 0) makeRoom(queue, services)
  return PASSED
}

/** Not for each message: a pull is worth its while when it can bring a whole batch. */
function makeRoom(queue: OwnedQueue, services: ConsumeServices): void {
  const { processQueue, flowControl, mq } = queue
  const { messages } = services.thresholdsOf(mq.topic)
  const enough = messages - Math.min(PULL_BATCH_MAX, Math.ceil(messages / 4))
  if (flowControl !== 'messages' || processQueue.msgCount <= enough) queue.roomy.raise()
}

function hold(queue: OwnedQueue, services: ConsumeServices, batch: Batch): BatchEnd {
  const { processQueue } = queue
  // A replayed message is not of the live ones that a commit covers: it is done when it succeeded.
  if (!(processQueue instanceof OrderlyProcessQueue) || batch[0]?.message.redelivery)
    return pass(queue, services, batch)
  processQueue.hold(batch)
  if (processQueue.heldCount >= CACHED_MESSAGES_PER_QUEUE_MAX && !processQueue.hasWaiting) {
    const { topic, queueId } = queue.mq
    const text = `${topic} queue ${queueId}: ${processQueue.heldCount} messages are not committed, and no more are pulled`
    services.emit({ kind: 'notice', text })
  }
  return PASSED
}

function rollback(
  queue: OwnedQueue,
  services: ConsumeServices,
  { batch }: Settled,
  afterMs: number,
): BatchEnd {
  const { processQueue } = queue
  invariant(processQueue instanceof OrderlyProcessQueue, 'a rollback needs order')
  const again = processQueue.rollback(batch)
  services.counters.consumed -= again - batch.length
  services.quota.giveBack(again)
  return { kind: 'suspended', afterMs }
}

function stay(
  queue: OwnedQueue,
  services: ConsumeServices,
  settled: Settled,
  settlement: Settlement & { kind: 'retry' | 'block' },
): BatchEnd {
  const { batch, attempts, error } = settled
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain(batch, () => attempts))
  const message = batch[0]?.message
  invariant(message, 'a settled batch has messages')
  if (settlement.kind === 'block') {
    queue.isBlocked = true
    services.emit({ kind: 'blocked', message, attempts, error })
    return { kind: 'blocked' }
  }
  const { afterMs } = settlement
  emitRetries(services, { ...settled, batch: batch.slice(0, 1) }, afterMs)
  return { kind: 'suspended', afterMs }
}

function emitRetries(
  { emit, policy }: ConsumeServices,
  { batch, attempts, error }: Settled,
  afterMs: number,
): void {
  const most = reconsumeTimesMax(policy)
  const maxReconsumeTimes = Number.isFinite(most) ? most : null
  for (const { message } of batch) {
    emit({ kind: 'retry', message, attempts, maxReconsumeTimes, error, afterMs })
  }
}

function withKeys(keys: ReadonlySet<string>, batch: Batch): ReadonlySet<string> {
  return new Set([...keys, ...batch.flatMap(({ message }) => message.key ?? [])])
}
