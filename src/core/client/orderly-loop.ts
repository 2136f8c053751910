import { CONSUME_CONTINUOUSLY_MS_MAX, LOCK_AGAIN_LATER_MS, RESUME_LATER_MS } from '../model/limits.ts'
import { sleep } from '../model/runtime.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'
import { fetchRedeliveries } from './redeliveries.ts'
import { tryBatch } from './try-batch.ts'
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
    if (queue.redeliveryPending || queue.processQueue.needsRedeliveries) {
      await fetchRedeliveries(queue, services)
    }
    if (queue.isDropped) break
    if (!queue.processQueue.hasWaiting) return { kind: 'empty' }
    // A blocked head lets replayed messages pass: they were there before it.
    if (queue.isBlocked && !queue.processQueue.hasRedeliveries) return { kind: 'blocked' }
    const allowed = services.quota.take(services.batch)
    if (allowed === 0) return { kind: 'stopped' }
    const batch = queue.processQueue.takeMessages(allowed)
    services.quota.giveBack(allowed - batch.length)
    const result = tryBatch(queue, services, batch)
    const end = result instanceof Promise ? await result : result
    if (end.kind !== 'passed') return end
    const turn = turns.due()
    if (turn) await turn
  }
  return { kind: 'stopped' }
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
