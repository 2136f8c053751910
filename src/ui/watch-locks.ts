import type { Broker, LockFilter } from '../core/index.ts'
import { type LockEvent, lockEvents } from './lock-events.ts'
import { pause } from './pause.ts'

/** A look at the locks costs well under a millisecond; a takeover is to be seen when it happens. */
const LOOK_EVERY_MS = 100

/** Reports what happens to the locks, look by look, until `signal` is aborted. */
export async function watchLocks(
  broker: Broker,
  filter: LockFilter,
  signal: AbortSignal,
  onEvents: (events: readonly LockEvent[]) => Promise<void>,
): Promise<void> {
  let before = await broker.listLocks(filter)
  while (!signal.aborted) {
    await pause(LOOK_EVERY_MS, signal)
    const after = await broker.listLocks(filter)
    const events = lockEvents(before, after)
    if (events.length > 0) await onEvents(events)
    before = after
  }
}
