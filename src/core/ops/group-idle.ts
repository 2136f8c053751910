import type { Broker } from '../broker.ts'
import { type GroupBusyBy, groupActive } from '../model/group-errors.ts'
import { compareText } from '../model/message-queue.ts'

/**
 * Fails with GROUP_ACTIVE as the change itself would, before somebody is asked whether to make it. The broker looks
 * again where it makes the change.
 */
export async function assertGroupIdle(
  broker: Broker,
  group: string,
  purpose: 'delete' | 'reset',
): Promise<void> {
  const busy = new Map<string, GroupBusyBy>()
  for (const { clientId, process, state } of await broker.members(group)) {
    if (state === 'alive') busy.set(clientId, { clientId, pid: process.pid, host: process.host })
  }
  for (const { clientId, pid, host, state } of await broker.listLocks({ group })) {
    if (state === 'held' && !busy.has(clientId)) busy.set(clientId, { clientId, pid, host })
  }
  const busyBy = [...busy.values()].sort((a, b) => compareText(a.clientId, b.clientId))
  if (busyBy.length > 0) throw groupActive(group, purpose, busyBy)
}
