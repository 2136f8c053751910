import {
  CONSUME_CONTINUOUSLY_MS_MAX,
  LOCK_AGAIN_LATER_MS,
  PULL_BATCH_MAX,
  PULL_RETRY_MS,
  RESUME_LATER_MS,
} from '../model/limits.ts'
import { sleep } from '../model/runtime.ts'
import type { BatchEnd } from './apply-settlement.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { isTransient } from './pull-loop.ts'
import { runBatch } from './run-batch.ts'
import { Turns } from './turns.ts'

/** Why a drain of the cache ended, and so what to wait for before the next. */
type DrainEnd =
  | { readonly kind: 'empty' }
  | { readonly kind: 'time-slice' }
  | { readonly kind: 'lock-untrusted' }
  | { readonly kind: 'suspended'; readonly afterMs: number }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'stopped' }

/**
 * Consumes one queue in order until it is dropped (RocketMQ `ConsumeMessageOrderlyService.ConsumeRequest`).
 * Each drain holds one of the consumer's permits, for at most CONSUME_CONTINUOUSLY_MS_MAX.
 */
export async function consumeLoop(queue: OwnedQueue, services: ConsumeServices): Promise<void> {
  while (!queue.isDropped) {
    await services.permits.acquire()
    let end: DrainEnd
    try {
      end = await drain(queue, services)
    } finally {
      services.permits.release()
    }
    await pauseAfter(end, queue, services)
  }
}

async function drain(queue: OwnedQueue, services: ConsumeServices): Promise<DrainEnd> {
  const { runtime } = services.broker
  const until = runtime.monotonic() + CONSUME_CONTINUOUSLY_MS_MAX
  const turns = new Turns(runtime)
  while (!queue.isDropped) {
    if (!queue.isTrusted) return { kind: 'lock-untrusted' }
    if (runtime.monotonic() > until) return { kind: 'time-slice' }
    if (queue.redeliveryPending) await fetchRedeliveries(queue, services)
    if (queue.isDropped) break
    if (!queue.processQueue.hasWaiting) return { kind: 'empty' }
    // A blocked head lets replayed messages pass: they were there before it.
    if (queue.isBlocked && !queue.processQueue.hasRedeliveries) return { kind: 'blocked' }
    const allowed = services.quota.take(services.batch)
    if (allowed === 0) return { kind: 'stopped' }
    const result = tryBatch(queue, services, allowed)
    const end = result instanceof Promise ? await result : result
    if (end.kind !== 'passed') return end
    const turn = turns.due()
    if (turn) await turn
  }
  return { kind: 'stopped' }
}

function tryBatch(
  queue: OwnedQueue,
  services: ConsumeServices,
  allowed: number,
): BatchEnd | Promise<BatchEnd> {
  const end = runBatch(queue, services, allowed)
  return end instanceof Promise ? end.catch((error) => retryLater(error, queue, services)) : end
}

/** A store that is busy beyond its bound is no reason to end: the batch stays and is taken again. */
function retryLater(error: unknown, queue: OwnedQueue, services: ConsumeServices): BatchEnd {
  if (!isTransient(error)) throw error
  services.emit({ kind: 'notice', text: error.message })
  services.quota.giveBack(queue.processQueue.makeMessageToConsumeAgain((entry) => entry.attempts))
  return { kind: 'suspended', afterMs: PULL_RETRY_MS }
}

/** Replayed messages go in front of the live ones: they were there first. */
async function fetchRedeliveries(queue: OwnedQueue, { broker }: ConsumeServices): Promise<void> {
  queue.redeliveryPending = false
  if (!broker.redelivery) return
  const messages = await broker.redelivery.pull(queue.fence, PULL_BATCH_MAX)
  if (queue.isDropped) return
  queue.processQueue.putRedeliveries(messages)
  // A full page: there may be more behind it.
  if (messages.length === PULL_BATCH_MAX) queue.redeliveryPending = true
}

async function pauseAfter(end: DrainEnd, queue: OwnedQueue, services: ConsumeServices): Promise<void> {
  const { runtime } = services.broker
  switch (end.kind) {
    case 'suspended':
      await sleep(runtime, end.afterMs, queue.stopping)
      break
    case 'time-slice':
      await sleep(runtime, RESUME_LATER_MS, queue.stopping)
      break
    case 'lock-untrusted':
      // Renewal runs by itself; it raises `arrived` when it gets through.
      await Promise.race([
        queue.arrived.wait(queue.stopping),
        sleep(runtime, LOCK_AGAIN_LATER_MS, queue.stopping),
      ])
      break
    case 'blocked':
    case 'empty':
      services.progressed()
      await queue.arrived.wait(queue.stopping)
      break
    case 'stopped':
      services.progressed()
      if (!queue.isDropped) await queue.arrived.wait(queue.stopping)
      break
  }
}
