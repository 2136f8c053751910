import type { LockFilter, LockRelease } from '../broker.ts'
import { doneEnd } from '../model/done-ranges.ts'
import { CAREFUL_SPAN_MESSAGES } from '../model/limits.ts'
import { isUnclean, type LockGrant, type LockHolder, type QueueLock } from '../model/lock.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../model/message-queue.ts'
import type { ClientPresence } from './client-presence.ts'
import { decideLock, type LockDecision, type OwnerView } from './lock-decision.ts'
import type { Places } from './places.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { ClientRow, Clients } from './tables/clients.ts'
import type { ConsumerOffsets } from './tables/consumer-offsets.ts'
import type { Groups } from './tables/groups.ts'
import type { LostBy, NamedLockRow, QueueLockRow, QueueLocks } from './tables/queue-locks.ts'
import type { QueueRow, Queues } from './tables/queues.ts'

export interface LockTables {
  readonly groups: Groups
  readonly clients: Clients
  readonly queueLocks: QueueLocks
  readonly consumerOffsets: ConsumerOffsets
  readonly queues: Queues
  readonly changes: Changes
}

/** A dead owner's handler that still runs, and the lock that waits for it. */
export interface LingeringHandler {
  readonly owner: ClientRow
  readonly lock: QueueLockRow
}

interface Asking {
  readonly groupId: number
  readonly clientId: string
  readonly ttlMs: number
  readonly now: number
  /** Of a disabled group locks are renewed while handlers end, and none is given. */
  readonly isEnabled: boolean
}

/** What one queue of a batch came to. */
interface Answer {
  readonly grant: LockGrant
  readonly lingering?: LingeringHandler
  readonly contradiction?: ClientRow
}

/** RocketMQ's `RebalanceLockManager` on the file: leases with epochs, and takeover by proof of death. */
export class LockManager {
  readonly #store: Store
  readonly #tables: LockTables
  readonly #presence: ClientPresence
  readonly #places: Places
  readonly #rebalance: () => void
  readonly #onLingering: (handler: LingeringHandler) => void

  constructor(
    store: Store,
    tables: LockTables,
    parts: {
      presence: ClientPresence
      places: Places
      rebalance: () => void
      onLingering: (handler: LingeringHandler) => void
    },
  ) {
    this.#store = store
    this.#tables = tables
    this.#presence = parts.presence
    this.#places = parts.places
    this.#rebalance = parts.rebalance
    this.#onLingering = parts.onLingering
  }

  async lockBatch(
    group: string,
    clientId: string,
    mqs: readonly MessageQueue[],
    ttlMs: number,
    epochs?: readonly number[],
  ): Promise<readonly LockGrant[]> {
    await this.#presence.take(clientId)
    this.#places.forgetGroup(group)
    const answers = await this.#store.write(() => {
      const now = Math.floor(this.#store.host.runtime.now())
      const groupId = this.#tables.groups.ensure(group, now)
      this.#presence.register(clientId)
      const isEnabled = this.#tables.groups.byName(group)?.consumeEnable !== 0
      const asking = { groupId, clientId, ttlMs: Math.ceil(ttlMs), now, isEnabled }
      return mqs.map((mq, i) => this.#tryLock(asking, mq, epochs?.[i]))
    })
    for (const { lingering, contradiction } of answers) {
      if (lingering) this.#onLingering(lingering)
      if (contradiction) this.#presence.reportContradiction(contradiction)
    }
    return answers.map(({ grant }) => grant)
  }

  async unlockBatch(group: string, clientId: string, mqs: readonly MessageQueue[]): Promise<void> {
    const { clients, changes } = this.#tables
    const isFreed = await this.#store.write(
      () => {
        const groupId = this.#places.groupId(group)
        const freed = mqs.filter((mq) => {
          const queueRow = this.#places.queueRow(mq)
          if (groupId === undefined || queueRow === undefined) return false
          return this.#tables.queueLocks.giveBack(groupId, queueRow, clientId)
        })
        if (freed.length === 0) return false
        changes.bump('rebalance')
        clients.removeUnused(clientId)
        return true
      },
      { wake: true },
    )
    if (isFreed) this.#rebalance()
  }

  listLocks(filter: LockFilter = {}): QueueLock[] {
    return this.#tables.queueLocks.owned(filter).map((row) => this.#toQueueLock(row, this.#view(row)))
  }

  async releaseLocks(
    filter: LockFilter,
    options: { readonly force: boolean },
  ): Promise<readonly LockRelease[]> {
    const { changes, clients, queueLocks } = this.#tables
    const releases = await this.#store.write(
      () => {
        const all = queueLocks.owned(filter).map((row): LockRelease => {
          const view = this.#view(row)
          const lock = this.#toQueueLock(row, view)
          const lostBy = lostByRelease(view, options.force)
          if (lostBy === undefined) return { lock, outcome: 'kept' }
          const carefulUntil = Math.max(row.carefulUntil, this.#span(row.groupId, row.queueRow))
          queueLocks.takeAway(row, lostBy === 'forced' ? 1 : 0, lostBy, carefulUntil)
          clients.removeUnused(row.clientId)
          return { lock, outcome: 'released' }
        })
        if (all.some(({ outcome }) => outcome === 'released')) changes.bump('rebalance')
        return all
      },
      { durable: true, wake: true },
    )
    this.#rebalance()
    return releases
  }

  /** Inside a write job. `epoch`: it is only to be renewed. */
  #tryLock(asking: Asking, mq: MessageQueue, epoch: number | undefined): Answer {
    const queue = this.#places.fresh(mq)
    if (queue === undefined) return { grant: { mq, granted: false, holder: null } }
    const lock = this.#tables.queueLocks.byKey(asking.groupId, queue.id)
    const isOurs = lock?.clientId === asking.clientId
    const isLost = epoch !== undefined && !(isOurs && lock.epoch === epoch)
    if (isLost || (!asking.isEnabled && !isOurs)) return { grant: { mq, granted: false, holder: null } }
    const owner = lock?.clientId != null ? this.#tables.clients.byId(lock.clientId) : undefined
    let view: OwnerView | undefined
    const decision = decideLock(lock, asking.clientId, () => {
      view = this.#presence.viewOwner(lock as QueueLockRow, owner)
      return view
    })
    const contradiction = view?.state === 'unproven' ? owner : undefined
    if (decision.kind === 'refuse') {
      const lingering = owner && lock && decision.state === 'handler-running' ? { owner, lock } : undefined
      return {
        grant: {
          mq,
          granted: false,
          holder: holderOf(owner as ClientRow, decision.state, view as OwnerView),
        },
        ...(lingering && { lingering }),
        ...(contradiction && { contradiction }),
      }
    }
    return { grant: this.#give(asking, mq, queue, lock, decision), ...(contradiction && { contradiction }) }
  }

  #give(
    asking: Asking,
    mq: MessageQueue,
    queue: QueueRow,
    lock: QueueLockRow | undefined,
    decision: LockDecision & { kind: 'grant' | 'renew' },
  ): LockGrant {
    const { queueLocks, consumerOffsets, clients } = this.#tables
    const { groupId, clientId, ttlMs, now } = asking
    const expiresMono = this.#store.host.runtime.monotonic() + ttlMs
    const committed = consumerOffsets.committed(groupId, queue.id) ?? 0
    const predecessor = decision.kind === 'renew' ? 'same' : decision.predecessor
    let carefulUntil = lock?.carefulUntil ?? 0
    if (decision.kind === 'renew') {
      queueLocks.renew(groupId, queue.id, ttlMs, now, expiresMono)
    } else {
      if (isUnclean(predecessor)) carefulUntil = Math.max(carefulUntil, this.#span(groupId, queue.id))
      const { epoch } = decision
      queueLocks.grant({
        groupId,
        queueRow: queue.id,
        clientId,
        epoch,
        ttlMs,
        now,
        expiresMono,
        carefulUntil,
        predecessor: decision.predecessor,
      })
      if (lock?.clientId) clients.removeUnused(lock.clientId)
    }
    const isPassed = carefulUntil <= committed
    return {
      mq,
      granted: true,
      epoch: decision.epoch,
      predecessor,
      carefulUntil: isPassed ? 0 : carefulUntil,
    }
  }

  /** Below this offset lies every message that the owner may have started. */
  #span(groupId: number, queueRow: number): number {
    const done = this.#tables.consumerOffsets.done(groupId, queueRow)
    const end = done ? doneEnd(done) : (this.#tables.queues.byId(queueRow)?.minOffset ?? 0)
    return end + CAREFUL_SPAN_MESSAGES
  }

  #view(row: QueueLockRow & { clientId: string }): OwnerView & { owner: ClientRow | undefined } {
    const owner = this.#tables.clients.byId(row.clientId)
    return { ...this.#presence.viewOwner(row, owner), owner }
  }

  #toQueueLock(row: NamedLockRow, view: OwnerView & { owner: ClientRow | undefined }): QueueLock {
    const isDead = view.state === 'dead' || view.state === 'handler-running'
    return {
      mq: { topic: row.topic, brokerName: EMBEDDED_BROKER_NAME, queueId: row.queueId },
      group: row.group,
      clientId: row.clientId,
      pid: view.owner?.pid ?? 0,
      host: view.owner?.host ?? 'unknown',
      alive: !isDead,
      epoch: row.epoch,
      predecessor: row.predecessor,
      acquiredAt: row.acquiredAt,
      renewedAt: row.renewedAt,
      expiresAt: Math.round(this.#store.host.runtime.now() + view.leaseLeftMs),
      state: isDead ? 'dead' : view.leaseLeftMs > 0 ? 'held' : 'expired',
    }
  }
}

/** How a lock's owner loses it by a release; `undefined`: it keeps it. */
function lostByRelease({ state, leaseLeftMs }: OwnerView, force: boolean): LostBy | undefined {
  if (state === 'dead') return 'dead'
  // A dead owner's handler may still be at work on the head of the queue: its lease protects it.
  if (leaseLeftMs <= 0) return state === 'handler-running' ? 'dead' : 'expired'
  return force ? 'forced' : undefined
}

function holderOf(owner: ClientRow, state: LockHolder['state'], view: OwnerView): LockHolder {
  const { clientId, pid, host } = owner
  return { clientId, pid, host, state, expiresInMs: Math.max(0, Math.ceil(view.leaseLeftMs)) }
}
