import type { GroupBusyBy } from '../../model/group-errors.ts'
import { compareText } from '../../model/message-queue.ts'
import type { ClientPresence } from '../client-presence.ts'
import type { OwnerView } from '../lock-decision.ts'
import type { Membership } from '../membership.ts'
import type { Clients } from '../tables/clients.ts'
import type { QueueLockRow, QueueLocks } from '../tables/queue-locks.ts'

/** Who consumes as a group now, as far as it can be told. Also inside write jobs. */
export class GroupActivity {
  readonly #parts: {
    readonly membership: Membership
    readonly presence: ClientPresence
    readonly clients: Clients
    readonly queueLocks: QueueLocks
  }

  constructor(parts: {
    membership: Membership
    presence: ClientPresence
    clients: Clients
    queueLocks: QueueLocks
  }) {
    this.#parts = parts
  }

  /** Living members, and owners of locks that have not run out; each client once, by client id. */
  busyBy(group: string): GroupBusyBy[] {
    const { membership, queueLocks, clients } = this.#parts
    const busy = new Map<string, GroupBusyBy>()
    for (const { clientId, process, state } of membership.members(group)) {
      if (state === 'alive') busy.set(clientId, { clientId, pid: process.pid, host: process.host })
    }
    for (const lock of queueLocks.owned({ group })) {
      const owner = clients.byId(lock.clientId)
      if (owner === undefined || busy.has(owner.clientId) || !this.isLive(lock)) continue
      busy.set(owner.clientId, { clientId: owner.clientId, pid: owner.pid, host: owner.host })
    }
    return [...busy.values()].sort((a, b) => compareText(a.clientId, b.clientId))
  }

  /** Whether a lock's owner is not provably dead and its lease runs. */
  isLive(lock: QueueLockRow): boolean {
    const { state, leaseLeftMs } = this.viewOwner(lock)
    return leaseLeftMs > 0 && (state === 'alive' || state === 'unproven')
  }

  viewOwner(lock: QueueLockRow): OwnerView {
    const { presence, clients } = this.#parts
    return presence.viewOwner(lock, lock.clientId === null ? undefined : clients.byId(lock.clientId))
  }
}
