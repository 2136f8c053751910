import type { QueueLock } from '../core/index.ts'

/**
 * What happened to a lock between two looks at it.
 * `lost`: its owner died or let its lease run out, nobody has taken it yet. `taken-over`: another client has it
 * although the owner did not give it back.
 */
export type LockEventKind = 'acquired' | 'renewed' | 'released' | 'lost' | 'taken-over'

export interface LockEvent {
  readonly event: LockEventKind
  /** After the event; of `released`, the lock as it was. */
  readonly lock: QueueLock
  /** Client id of the owner before, for `taken-over`. */
  readonly from: string | null
}

/** The events between two looks. Several changes of owner between them count as one. */
export function lockEvents(before: readonly QueueLock[], after: readonly QueueLock[]): readonly LockEvent[] {
  const old = new Map(before.map((lock) => [identity(lock), lock]))
  const events: LockEvent[] = []
  for (const lock of after) {
    const previous = old.get(identity(lock))
    old.delete(identity(lock))
    if (!previous) events.push({ event: 'acquired', lock, from: null })
    else if (previous.epoch !== lock.epoch) events.push(...ownerChange(previous, lock))
    else events.push(...sameOwner(previous, lock))
  }
  for (const lock of old.values()) events.push({ event: 'released', lock, from: null })
  return events
}

function ownerChange(previous: QueueLock, lock: QueueLock): readonly LockEvent[] {
  if (lock.predecessor !== 'released') return [{ event: 'taken-over', lock, from: previous.clientId }]
  return [
    { event: 'released', lock: previous, from: null },
    { event: 'acquired', lock, from: null },
  ]
}

function sameOwner(previous: QueueLock, lock: QueueLock): readonly LockEvent[] {
  if (previous.state === 'held' && lock.state !== 'held') return [{ event: 'lost', lock, from: null }]
  return lock.renewedAt > previous.renewedAt ? [{ event: 'renewed', lock, from: null }] : []
}

function identity(lock: QueueLock): string {
  return `${lock.group}\n${lock.mq.topic}\n${lock.mq.brokerName}\n${lock.mq.queueId}`
}
