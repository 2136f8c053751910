import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { RmqError } from '../model/errors.ts'
import { sleep } from '../model/runtime.ts'
import type { LivenessHandle } from './host.ts'
import type { OwnerView } from './lock-decision.ts'
import type { Store } from './store.ts'
import { type ClientRow, type Clients, isSameProcess } from './tables/clients.ts'
import type { Members } from './tables/members.ts'
import type { QueueLockRow, QueueLocks } from './tables/queue-locks.ts'

/** A death watcher that removes the file of a dead client holds it for a moment: that is no living namesake. */
const HOLD_TRIES_MAX = 3
const HOLD_AGAIN_MS = 10

export interface PresenceTables {
  readonly clients: Clients
  readonly members: Members
  readonly queueLocks: QueueLocks
}

/** The client ids that live in this process, and what can be proved about those that do not. */
export class ClientPresence {
  readonly #store: Store
  readonly #tables: PresenceTables
  readonly #notice: (text: string) => void
  readonly #handles = new Map<string, LivenessHandle>()
  readonly #contradictions = new Set<string>()

  constructor(store: Store, tables: PresenceTables, notice: (text: string) => void) {
    this.#store = store
    this.#tables = tables
    this.#notice = notice
  }

  isOwn(clientId: string): boolean {
    return this.#handles.has(clientId)
  }

  /** Client ids of this process, sorted. */
  own(): string[] {
    return [...this.#handles.keys()].sort()
  }

  /** Takes the proof of life of a client id, once. CLIENT_ID_IN_USE when another client holds it. */
  async take(clientId: string): Promise<void> {
    for (let tries = 1; !this.#handles.has(clientId); tries++) {
      const handle = this.#store.host.liveness.hold(this.#path(livenessName(clientId)))
      if (handle !== undefined) {
        this.#handles.set(clientId, handle)
        return
      }
      if (tries === HOLD_TRIES_MAX) throw this.#inUse(clientId)
      await sleep(this.#store.host.runtime, HOLD_AGAIN_MS)
    }
  }

  /**
   * Writes the client's row. The proof of life is ours, so whoever went by this id before is dead: its memberships
   * end, and its locks go by a name of their own from now on, or the new process would inherit them as if nothing
   * had happened. Inside a write job, after `take`.
   */
  register(clientId: string): void {
    const { runtime, process } = this.#store.host
    const { clients, members, queueLocks } = this.#tables
    const known = clients.byId(clientId)
    if (known !== undefined && isSameProcess(known, process)) return
    if (known !== undefined) {
      members.removeClient(clientId)
      const ghost = `${clientId}#${known.pid}.${known.startTime}`
      if (queueLocks.ownedBy(clientId).length > 0) {
        clients.put({ ...known, clientId: ghost, liveness: livenessName(ghost) })
        queueLocks.reassign(clientId, ghost)
      }
    }
    const startedAt = Math.floor(runtime.now())
    clients.put({ ...identityOf(process), clientId, liveness: livenessName(clientId), startedAt })
  }

  /** Gives up the proof of life; the file goes with it. */
  release(clientId: string): void {
    this.#handles.get(clientId)?.release()
    this.#handles.delete(clientId)
  }

  releaseAll(): void {
    for (const clientId of this.own()) this.release(clientId)
  }

  /** Whether that client's process lives: its lock first, then the process itself. */
  proof(client: ClientRow): 'alive' | 'dead' | 'unproven' {
    if (this.isOwn(client.clientId)) return 'alive'
    const { liveness } = this.#store.host
    if (liveness.isHeld(this.#path(client.liveness))) return 'alive'
    return liveness.witness(client) === 'runs' ? 'unproven' : 'dead'
  }

  /** An owner as a lock decision needs it. Without a row it is dead: rows stay while a lock refers to them. */
  viewOwner(lock: QueueLockRow, owner: ClientRow | undefined): OwnerView {
    if (owner === undefined) return { state: 'dead', leaseLeftMs: 0 }
    const leaseLeftMs = this.leaseLeftMs(lock, owner)
    const state = this.proof(owner)
    if (state !== 'dead') return { state, leaseLeftMs }
    return { state: this.handlerRuns(lock, owner) ? 'handler-running' : 'dead', leaseLeftMs }
  }

  /** Whether a handler that the lock's owner started provably still runs. */
  handlerRuns({ groupId, queueRow }: QueueLockRow, owner: ClientRow): boolean {
    const { liveness } = this.#store.host
    return this.#tables.queueLocks
      .handlers(groupId, queueRow)
      .some((handler) => liveness.handlerRuns(owner, handler))
  }

  /** Another boot's clock cannot be read: its lease counts as running, which matters only while it provably lives. */
  leaseLeftMs(lock: QueueLockRow, owner: ClientRow): number {
    const { runtime, process } = this.#store.host
    return owner.bootId === process.bootId ? lock.expiresMono - runtime.monotonic() : lock.ttlMs
  }

  /** Says once per client that its witnesses contradict each other. Outside of write jobs. */
  reportContradiction({ clientId, pid, host, startTime }: ClientRow): void {
    const id = `${clientId}#${pid}.${startTime}`
    if (this.#contradictions.has(id)) return
    this.#contradictions.add(id)
    this.#notice(
      `client ${clientId} (${pid}@${host}): its process runs, but its proof of life is gone; ` +
        'until it comes back its locks end only with their leases',
    )
  }

  /**
   * Removes the liveness file of a dead client, by taking it first: should a namesake have come to life meanwhile,
   * it has the lock and keeps its file.
   */
  sweep(client: ClientRow): void {
    this.#store.host.liveness.hold(this.#path(client.liveness))?.release()
  }

  #path(name: string): string {
    return join(this.#store.livenessFolder, name)
  }

  #inUse(clientId: string): RmqError {
    const holder = this.#tables.clients.byId(clientId)
    return new RmqError('CLIENT_ID_IN_USE', `client id ${clientId} is in use`, {
      why:
        holder === undefined
          ? 'another client of that id lives; it has not joined a group yet'
          : `it lives as process ${holder.pid}@${holder.host}`,
      hint: 'leave out --client-id, or stop the other one',
      details: { clientId, ...(holder && { pid: holder.pid, host: holder.host }) },
    })
  }
}

/** Client ids may hold what file names may not. */
function livenessName(clientId: string): string {
  return createHash('sha256').update(clientId).digest('hex').slice(0, 32)
}

function identityOf({ pid, host, bootId, pidNamespace, startTime }: ClientRow | Store['host']['process']) {
  return { pid, host, bootId, pidNamespace, startTime }
}
