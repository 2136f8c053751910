import type { LockGrant } from '../model/lock.ts'
import type { ConsumeServices } from './consume-services.ts'
import { consumeLoop } from './orderly-loop.ts'
import { OwnedQueue } from './owned-queue.ts'
import { pullLoop } from './pull-loop.ts'

/** Begins to consume a queue whose lock was granted, from its committed offset on, until it is dropped. */
export function consumeQueue(
  services: ConsumeServices,
  grant: LockGrant & { granted: true },
  committed: number,
): OwnedQueue {
  const { broker, group, clientId, lockTtlMs, offsets, fail } = services
  const position = offsets.acquire(grant.mq, grant.epoch, committed)
  const queue = new OwnedQueue({ runtime: broker.runtime, group, clientId, grant, position, lockTtlMs })
  queue.ended = Promise.all([
    pullLoop(queue, services, committed).catch(fail),
    consumeLoop(queue, services).catch(fail),
  ])
  return queue
}
