import type { ClientPresence } from './client-presence.ts'
import type { LingeringHandler } from './lock-manager.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import { type ClientRow, type Clients, isSameProcess } from './tables/clients.ts'
import type { Members } from './tables/members.ts'

export interface WatchTables {
  readonly clients: Clients
  readonly members: Members
  readonly changes: Changes
}

/**
 * Notices within one tick that a neighbour died. The clients that are members form a ring, sorted by id, and each
 * process looks only at the next client after each of its own: however many there are, each is looked at by one
 * process, and when that dies too, the one before it goes on from there.
 */
export class DeathWatch {
  readonly #store: Store
  readonly #tables: WatchTables
  readonly #presence: ClientPresence
  readonly #rebalance: () => void
  readonly #lingering = new Map<string, LingeringHandler>()
  /** Writes under way, so that the next tick does not ask for the same again. */
  readonly #burying = new Set<string>()
  #expiring = false

  constructor(store: Store, tables: WatchTables, presence: ClientPresence, rebalance: () => void) {
    this.#store = store
    this.#tables = tables
    this.#presence = presence
    this.#rebalance = rebalance
  }

  /** A lock of ours waits for the end of that handler. */
  await(handler: LingeringHandler): void {
    this.#lingering.set(`${handler.lock.groupId}:${handler.lock.queueRow}`, handler)
  }

  /** One look around. Resolves when what it found is written; rejects when that failed: the next tick tries again. */
  async tick(): Promise<void> {
    const dead = this.#neighbours().filter((client) => this.#isDead(client))
    await Promise.all([
      ...dead.map((client) => this.#bury(client)),
      this.#expireMembers(),
      this.#endOfHandlers(),
    ])
  }

  /** The next foreign client in the ring after each run of our own. */
  #neighbours(): ClientRow[] {
    const ring = this.#tables.members.clientIds()
    const isOwn = (i: number) => this.#presence.isOwn(ring[i % ring.length] ?? '')
    const next = ring.filter((_, i) => !isOwn(i) && isOwn(i + ring.length - 1))
    return next.flatMap((clientId) => this.#tables.clients.byId(clientId) ?? [])
  }

  #isDead(client: ClientRow): boolean {
    if (this.#burying.has(client.clientId)) return false
    const proof = this.#presence.proof(client)
    if (proof === 'unproven') this.#presence.reportContradiction(client)
    return proof === 'dead'
  }

  /** Its locks stay as they are: the next lock attempt decides them, with the handler in view. */
  async #bury(client: ClientRow): Promise<void> {
    const { clientId } = client
    this.#burying.add(clientId)
    try {
      const isBuried = await this.#store.write(
        () => {
          const { clients, members, changes } = this.#tables
          const now = clients.byId(clientId)
          // A namesake came to life, or another process was faster.
          if (now === undefined || !isSameProcess(now, client)) return false
          if (members.removeClient(clientId) === 0) return false
          clients.removeUnused(clientId)
          changes.bump('rebalance')
          return true
        },
        { wake: true },
      )
      if (!isBuried) return
      this.#presence.sweep(client)
      this.#rebalance()
    } finally {
      this.#burying.delete(clientId)
    }
  }

  /** Members whose heartbeats stopped. Our own are about to say that they live. */
  async #expireMembers(): Promise<void> {
    const { runtime, process } = this.#store.host
    const { members, clients, changes } = this.#tables
    const expired = () =>
      members
        .expired(runtime.monotonic(), process.bootId)
        .filter(([, clientId]) => !this.#presence.isOwn(clientId))
    if (this.#expiring || expired().length === 0) return
    this.#expiring = true
    try {
      const isChanged = await this.#store.write(
        () => {
          const rows = expired()
          for (const [groupId, clientId] of rows) {
            members.remove(groupId, clientId)
            clients.removeUnused(clientId)
          }
          if (rows.length > 0) changes.bump('rebalance')
          return rows.length > 0
        },
        { wake: true },
      )
      if (isChanged) this.#rebalance()
    } finally {
      this.#expiring = false
    }
  }

  async #endOfHandlers(): Promise<void> {
    if (this.#lingering.size === 0) return
    const { runtime } = this.#store.host
    const ended = [...this.#lingering].filter(
      ([, { owner, lock }]) =>
        lock.expiresMono <= runtime.monotonic() || !this.#presence.handlerRuns(lock, owner),
    )
    if (ended.length === 0) return
    for (const [key] of ended) this.#lingering.delete(key)
    await this.#store.write(() => this.#tables.changes.bump('rebalance'), { wake: true })
    this.#rebalance()
  }
}
