import type { Broker } from '../broker.ts'
import type { AssignedQueue } from './assigned-queue.ts'

/** A queue is done below `offset`, and with replayed messages by the ids of their dead letters. */
export interface PositionCommit {
  readonly queue: AssignedQueue
  readonly offset: number
  readonly replayed: readonly number[]
}

/** Stores what is done, all queues in one step, and answers those where it was refused: there nothing was stored. */
export async function commitPositions(
  broker: Broker,
  group: string,
  clientId: string,
  commits: readonly PositionCommit[],
): Promise<readonly AssignedQueue[]> {
  const refused: AssignedQueue[] = []
  const live: PositionCommit[] = []
  for (const commit of commits) {
    const { queue, replayed } = commit
    if (replayed.length > 0 && !(await broker.redelivery?.complete(queue.fence, replayed)))
      refused.push(queue)
    else {
      queue.settled(replayed)
      live.push(commit)
    }
  }
  if (live.length === 0) return refused
  const accepted = await broker.commitOffsets(
    group,
    clientId,
    live.map(({ queue, offset }) => ({ mq: queue.mq, epoch: queue.fence.epoch, offset })),
  )
  for (const [i, { queue, offset }] of live.entries()) {
    if (accepted[i]) queue.committed = Math.max(queue.committed, offset)
    else refused.push(queue)
  }
  return refused
}
