import { sleep } from '../model/runtime.ts'
import { applySettlement, type BatchEnd, positionOf, putBack } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import { type HandlerRun, runHandler } from './handler-run.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import { retryLater } from './retry-later.ts'
import { mayStart, settle } from './settlement.ts'
import { WatchedRun } from './watch-run.ts'

/**
 * Takes a batch of a queue through its handler to its settlement.
 *
 * Here and in what it calls, a result that needs no waiting is no promise: with a handler that answers at once,
 * the turns of five async functions for each message cost more than all the rest.
 */
export function runBatch(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
): BatchEnd | Promise<BatchEnd> {
  const attempts = batch[0]?.attempts ?? 0
  if (isParked(queue, batch)) {
    return applySettlement(
      queue,
      services,
      { batch, attempts, error: null, isStored: true },
      { kind: 'park' },
    )
  }
  const start = mayStart(attempts, services.policy)
  if (start !== 'run') {
    const error = `its consumer ended while handling it; ${attempts} attempts were begun`
    return applySettlement(queue, services, { batch, attempts, error, isStored: true }, start)
  }
  if (needsStoredStart(queue, services, batch)) return runStored(queue, services, batch)
  const last = batch.at(-1)?.message.queueOffset ?? 0
  if (services.offsets.isBeyondSpan(queue.position, last)) return runBeyondSpan(queue, services, batch, last)
  return run(queue, services, batch, false)
}

/**
 * A batch is of one key wherever keys are parked. What is replayed goes on, although others of its key may still be
 * parked: the broker lets none into the lane that has another one before it.
 */
function isParked({ parkedKeys }: OwnedQueue, [first]: Batch): boolean {
  if (parkedKeys.size === 0 || !first || first.message.redelivery) return false
  const { key } = first.message
  return key !== null && parkedKeys.has(key)
}

/**
 * Whether each start has to be stored before it happens: where the handler is a process (it is slow enough, and
 * may outlive us), where an owner died with messages in work, and where a message has failed before.
 */
function needsStoredStart(queue: OwnedQueue, { attempts, handler }: ConsumeServices, batch: Batch): boolean {
  const first = batch[0]
  if (!attempts || !first) return false
  return (
    handler.kind === 'process' ||
    first.attempts > 0 ||
    first.message.redelivery !== undefined ||
    first.message.queueOffset < queue.carefulUntil
  )
}

async function runStored(queue: OwnedQueue, services: ConsumeServices, batch: Batch): Promise<BatchEnd> {
  // Where order is kept, what is done with is stored in front of what starts behind it: as a rule in one transaction.
  const isInOrder = queue.position.ahead === undefined
  const inFront = isInOrder ? services.offsets.beginFlush(queue.position) : undefined
  if (inFront) await inFront
  const isBegun = (await services.attempts?.start(queue.fence, batch.map(positionOf))) ?? true
  if (!isBegun) {
    services.lockLost(queue, false)
    return putBack(queue, services, batch)
  }
  if (!queue.isDropped) return run(queue, services, batch, true)
  return applySettlement(
    queue,
    services,
    { batch, attempts: 0, error: null, isStored: true },
    { kind: 'release' },
  )
}

/**
 * A crash of ours must leave nothing started beyond the span that the next owner goes through carefully. When what
 * is unfinished keeps it from growing, the start itself is stored.
 */
async function runBeyondSpan(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
  last: number,
): Promise<BatchEnd> {
  if (queue.position.isDirty) await services.offsets.flush()
  if (queue.isDropped) return putBack(queue, services, batch)
  return services.offsets.isBeyondSpan(queue.position, last)
    ? runStored(queue, services, batch)
    : run(queue, services, batch, false)
}

function run(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
  isStored: boolean,
): BatchEnd | Promise<BatchEnd> {
  const attempts = (batch[0]?.attempts ?? 0) + 1
  const watch = new WatchedRun(queue, services, batch, attempts)
  const ended = runHandler(queue, services, watch.messages, attempts)
  const ran = { batch, attempts, isStored }
  if (!(ended instanceof Promise)) return finish(queue, services, ran, watch, ended)
  if (Number.isFinite(services.consumeTimeoutMs)) {
    queue.startedAt.set(batch, services.broker.runtime.monotonic())
  }
  return ended.then((result) => {
    // From here on its answer settles it, however long that takes to store.
    queue.startedAt.delete(batch)
    return finish(queue, services, ran, watch, result)
  })
}

function finish(
  queue: OwnedQueue,
  services: ConsumeServices,
  ran: Ran,
  watch: WatchedRun,
  result: HandlerRun,
): BatchEnd | Promise<BatchEnd> {
  watch.ended(result)
  return settleRun(queue, services, ran, result)
}

interface Ran {
  readonly batch: Batch
  readonly attempts: number
  readonly isStored: boolean
}

function settleRun(
  queue: OwnedQueue,
  services: ConsumeServices,
  ran: Ran,
  { outcome, error, fatal, each }: HandlerRun,
): BatchEnd | Promise<BatchEnd> {
  // It ran out of time and was sent back: what its handler says now comes too late.
  if (queue.expired.delete(ran.batch)) {
    if (fatal !== undefined) services.fail(fatal)
    return { kind: 'passed' }
  }
  // Where order is kept a batch is one unit.
  if (each && services.policy.mode === 'concurrent') return settleEach(queue, services, ran, each, fatal)
  if (outcome.kind === 'failed' || outcome.kind === 'rejected') services.counters.failed++
  const { batch, attempts, isStored } = ran
  const settlement = settle(outcome, attempts, services.policy)
  // Not `{ ...ran, error }`: a spread object is slow to make and slow to read, a sixth of all time here.
  const end = applySettlement(queue, services, { batch, attempts, error, isStored }, settlement)
  if (fatal === undefined) return end
  return Promise.resolve(end).finally(() => services.fail(fatal))
}

/** Each message of the batch ended in its own way. */
async function settleEach(
  queue: OwnedQueue,
  services: ConsumeServices,
  ran: Ran,
  each: readonly HandlerRun[],
  fatal: unknown,
): Promise<BatchEnd> {
  for (const [i, run] of each.entries()) {
    const batch = ran.batch.slice(i, i + 1)
    const end = await settleOne(queue, services, { ...ran, batch }, run)
    if (end.kind === 'suspended') resumeLater(queue, services, batch, end.afterMs)
  }
  if (fatal !== undefined) services.fail(fatal)
  return { kind: 'passed' }
}

/** What cannot be stored now keeps its own message only: others of the batch may be settled already. */
async function settleOne(
  queue: OwnedQueue,
  services: ConsumeServices,
  ran: Ran,
  run: HandlerRun,
): Promise<BatchEnd> {
  try {
    return await settleRun(queue, services, ran, run)
  } catch (error) {
    return retryLater(error, queue, services, ran.batch)
  }
}

/** The loop knows the batch as a whole only; a part that stays is brought back from here. */
function resumeLater(queue: OwnedQueue, services: ConsumeServices, batch: Batch, afterMs: number): void {
  void sleep(services.broker.runtime, afterMs, queue.stopping).then(() => {
    queue.processQueue.resume(batch)
    queue.arrived.raise()
  })
}
