import type { Broker, GroupMember, LockFilter, QueueLock } from '../core/index.ts'
import { type LockEvent, lockEvents } from './lock-events.ts'

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
    const members = await membersOf(broker, before, after)
    const events = lockEvents(before, after, (group, clientId) =>
      members.get(group)?.find((member) => member.clientId === clientId),
    )
    if (events.length > 0) await onEvents(events)
    before = after
  }
}

/** Members of the groups in which a lock changed hands; mostly there are none to ask for. */
async function membersOf(
  broker: Broker,
  before: readonly QueueLock[],
  after: readonly QueueLock[],
): Promise<ReadonlyMap<string, readonly GroupMember[]>> {
  const epochs = new Set(
    before.map((lock) => `${lock.group} ${lock.mq.topic} ${lock.mq.queueId} ${lock.epoch}`),
  )
  const groups = new Set(
    after
      .filter((lock) => !epochs.has(`${lock.group} ${lock.mq.topic} ${lock.mq.queueId} ${lock.epoch}`))
      .map((lock) => lock.group),
  )
  const members = await Promise.all(
    [...groups].map(async (group) => [group, await broker.members(group)] as const),
  )
  return new Map(members)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms)
    function finish() {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    signal.addEventListener('abort', finish, { once: true })
  })
}
