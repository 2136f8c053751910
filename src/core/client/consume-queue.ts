import type { Done, DoneRange } from '../model/done-ranges.ts'
import type { LockGrant } from '../model/lock.ts'
import { ConcurrentProcessQueue } from './concurrent-process-queue.ts'
import type { ConsumeServices } from './consume-services.ts'
import { consumeLoop } from './orderly-loop.ts'
import { OrderlyProcessQueue } from './orderly-process-queue.ts'
import { OwnedQueue } from './owned-queue.ts'
import { ParallelLoop } from './parallel-loop.ts'
import { PerKeyProcessQueue } from './per-key-process-queue.ts'
import type { ProcessQueue } from './process-queue.ts'
import { pullLoop } from './pull-loop.ts'

/** Begins to consume a queue whose lock was granted, from where the group is on, until it is dropped. */
export function consumeQueue(
  services: ConsumeServices,
  grant: LockGrant & { granted: true },
  done: Done,
): OwnedQueue {
  const { broker, group, clientId, lockTtlMs, offsets, fail } = services
  const processQueue = newProcessQueue(services, done.ahead)
  const isParallel = !(processQueue instanceof OrderlyProcessQueue)
  const ahead = isParallel ? () => processQueue.ahead : undefined
  const position = offsets.acquire(grant.mq, grant.epoch, done, ahead)
  const { runtime } = broker
  const queue = new OwnedQueue({ runtime, group, clientId, grant, position, processQueue, lockTtlMs })
  const loop = isParallel ? new ParallelLoop(queue, services).run() : consumeLoop(queue, services)
  queue.ended = Promise.all([pullLoop(queue, services, done.offset).catch(fail), loop.catch(fail)])
  return queue
}

/** What may run beside what. */
function newProcessQueue(
  { policy, runsPerQueue }: ConsumeServices,
  skip: readonly DoneRange[],
): ProcessQueue {
  if (policy.mode === 'concurrent') return new ConcurrentProcessQueue({ skip })
  if (runsPerQueue > 1) return new PerKeyProcessQueue({ skip })
  // Where keys are parked, a batch must not tie the fate of one key to that of another.
  return new OrderlyProcessQueue({ skip, byKey: policy.onExhausted === 'park-key' })
}
