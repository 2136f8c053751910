import { applySettlement, type BatchEnd, positionOf, putBack } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import { type HandlerRun, runHandler } from './handler-run.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { ProcessQueueEntry } from './process-queue.ts'
import { mayStart, settle } from './settlement.ts'

/**
 * Takes the next batch of a queue through its handler to its settlement. `allowed` messages were taken from the
 * quota; what does not pass is given back.
 *
 * Here and in what it calls, a result that needs no waiting is no promise: with a handler that answers at once,
 * the turns of five async functions for each message cost more than all the rest.
 */
export function runBatch(
  queue: OwnedQueue,
  services: ConsumeServices,
  allowed: number,
): BatchEnd | Promise<BatchEnd> {
  const batch = queue.processQueue.takeMessages(allowed)
  services.quota.giveBack(allowed - batch.length)
  const attempts = batch[0]?.attempts ?? 0
  const start = mayStart(attempts, services.policy)
  if (start !== 'run') {
    const error = `its consumer ended while handling it; ${attempts} attempts were begun`
    return applySettlement(queue, services, { batch, attempts, error, isStored: true }, { kind: start })
  }
  if (needsStoredStart(queue, services, batch)) return runStored(queue, services, batch)
  const last = batch.at(-1)?.message.queueOffset ?? 0
  if (services.offsets.isBeyondSpan(queue.position, last)) return runBeyondSpan(queue, services, batch, last)
  return run(queue, services, batch, false)
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

async function runStored(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: readonly ProcessQueueEntry[],
): Promise<BatchEnd> {
  const isBegun = (await services.broker.attempts?.start(queue.fence, batch.map(positionOf))) ?? true
  if (!isBegun) {
    services.lockLost(queue, false)
    return putBack(queue, services)
  }
  if (!queue.isDropped) return run(queue, services, batch, true)
  return applySettlement(
    queue,
    services,
    { batch, attempts: 0, error: null, isStored: true },
    { kind: 'release' },
  )
}

/** A crash of ours must leave nothing started beyond the span that the next owner goes through carefully. */
async function runBeyondSpan(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: readonly ProcessQueueEntry[],
  last: number,
): Promise<BatchEnd> {
  while (!queue.isDropped && services.offsets.isBeyondSpan(queue.position, last))
    await services.offsets.flush()
  return queue.isDropped ? putBack(queue, services) : run(queue, services, batch, false)
}

function run(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: readonly ProcessQueueEntry[],
  isStored: boolean,
): BatchEnd | Promise<BatchEnd> {
  const attempts = (batch[0]?.attempts ?? 0) + 1
  const messages = batch.map(({ message }) => message)
  const ended = runHandler(queue, services, messages, attempts)
  const finish = (result: HandlerRun) => settleRun(queue, services, { batch, attempts, isStored }, result)
  return ended instanceof Promise ? ended.then(finish) : finish(ended)
}

function settleRun(
  queue: OwnedQueue,
  services: ConsumeServices,
  ran: {
    readonly batch: readonly ProcessQueueEntry[]
    readonly attempts: number
    readonly isStored: boolean
  },
  { outcome, error, fatal }: HandlerRun,
): BatchEnd | Promise<BatchEnd> {
  if (outcome.kind === 'failed' || outcome.kind === 'rejected') services.counters.failed++
  const settlement = settle(outcome, ran.attempts, services.policy)
  const end = applySettlement(queue, services, { ...ran, error }, settlement)
  if (fatal === undefined) return end
  return Promise.resolve(end).finally(() => services.fail(fatal))
}
