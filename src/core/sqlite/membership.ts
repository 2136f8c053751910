import { RmqError } from '../model/errors.ts'
import type { ConsumerStatus, GroupMember, MemberHeartbeat, Subscription } from '../model/group.ts'
import { compareText } from '../model/message-queue.ts'
import type { ClientPresence } from './client-presence.ts'
import { ALLOCATE_DEFAULT, type GroupConflict, groupConflict, subscriptionsOf } from './group-conflict.ts'
import { RefusedConsumers } from './refused-consumers.ts'
import { ensureRetryTopic } from './retry-topic.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { Clients } from './tables/clients.ts'
import type { Groups } from './tables/groups.ts'
import type { MemberClientRow, MemberRow, Members } from './tables/members.ts'
import type { Queues } from './tables/queues.ts'
import type { Refusals } from './tables/refusals.ts'
import type { Topics } from './tables/topics.ts'

export interface MembershipTables {
  readonly topics: Topics
  readonly queues: Queues
  readonly refusals: Refusals
  readonly groups: Groups
  readonly clients: Clients
  readonly members: Members
  readonly changes: Changes
}

/** Who takes part in a group, by heartbeat and by proof of life. */
export class Membership {
  readonly #store: Store
  readonly #tables: MembershipTables
  readonly #presence: ClientPresence
  readonly #rebalance: () => void
  readonly #refused: RefusedConsumers
  /** Groups of each client of this process, from the moment it asks to join. */
  readonly #groupsOf = new Map<string, Set<string>>()

  constructor(store: Store, tables: MembershipTables, presence: ClientPresence, rebalance: () => void) {
    this.#store = store
    this.#tables = tables
    this.#presence = presence
    this.#rebalance = rebalance
    this.#refused = new RefusedConsumers(store, tables)
  }

  /** Groups that have a member in this process. */
  ownGroups(): Set<string> {
    return new Set([...this.#groupsOf.values()].flatMap((groups) => [...groups]))
  }

  async heartbeat(member: MemberHeartbeat): Promise<void> {
    const { group, clientId } = member
    await this.#presence.take(clientId)
    const groups = this.#groupsOf.get(clientId) ?? new Set()
    this.#groupsOf.set(clientId, groups)
    const isNew = !groups.has(group)
    groups.add(group)
    try {
      const { isChanged, groupId, refusals } = await this.#store.write(() => this.#join(member), {
        wake: isNew,
      })
      if (isNew) this.#refused.joined(groupId, refusals)
      if (isChanged) this.#rebalance()
    } catch (error) {
      if (isNew) this.#forget(group, clientId)
      if (error instanceof RmqError && error.code === 'GROUP_CONFLICT') await this.#tellMembers(member)
      throw error
    }
  }

  /** What the groups of this process have refused since the last call. */
  refusals(): string[] {
    return this.#refused.news(this.ownGroups())
  }

  /** Leaves the group. The client's row and proof of life go with its last group, unless it still holds locks. */
  async unregister(group: string, clientId: string): Promise<void> {
    const { groups, members, clients, changes } = this.#tables
    const isLeft = await this.#store.write(
      () => {
        const row = groups.byName(group)
        const left = row !== undefined && members.remove(row.id, clientId)
        if (left) changes.bump('rebalance')
        clients.removeUnused(clientId)
        return left
      },
      { wake: true },
    )
    this.#forget(group, clientId)
    if (isLeft) this.#rebalance()
  }

  /** Members whose time has not run out and that are not provably dead. */
  memberIds(group: string, topic: string): string[] {
    return this.#rows(group)
      .filter((row) => subscriptionsOf(row).some((subscription) => subscription.topic === topic))
      .filter((row) => this.#stateOf(row) === 'alive')
      .map((row) => row.clientId)
  }

  members(group: string): GroupMember[] {
    return this.#rows(group).map((row) => ({
      group,
      clientId: row.clientId,
      mode: row.mode,
      messageModel: row.messageModel,
      allocate: row.allocate,
      subscriptions: subscriptionsOf(row),
      ...(row.status === null ? undefined : { status: JSON.parse(row.status) as ConsumerStatus }),
      lockTtlMs: row.lockTtlMs,
      process: {
        pid: row.pid,
        host: row.host,
        bootId: row.bootId,
        pidNamespace: row.pidNamespace,
        startTime: row.startTime,
      },
      state: this.#stateOf(row),
      startedAt: row.startedAt,
      heartbeatAt: row.heartbeatAt,
    }))
  }

  /** Ends the memberships of this process; locks that were not given back stay until their owner's death or lease. */
  async close(): Promise<void> {
    const own = this.#presence.own()
    if (own.length === 0) return
    const { members, clients, changes } = this.#tables
    await this.#store.write(
      () => {
        const left = own.filter((clientId) => members.removeClient(clientId) > 0)
        if (left.length > 0) changes.bump('rebalance')
        for (const clientId of own) clients.removeUnused(clientId)
      },
      { wake: true },
    )
  }

  #join(member: MemberHeartbeat): { isChanged: boolean; groupId: number; refusals: number } {
    const { groups, members, changes } = this.#tables
    const { runtime } = this.#store.host
    const now = Math.floor(runtime.now())
    const groupId = groups.ensure(member.group, now)
    this.#presence.register(member.clientId)
    const before = members.byKey(groupId, member.clientId)
    const row: MemberRow = {
      groupId,
      clientId: member.clientId,
      mode: member.mode,
      messageModel: member.messageModel ?? 'clustering',
      allocate: member.allocate ?? ALLOCATE_DEFAULT,
      subscriptions: JSON.stringify(sorted(member.subscriptions)),
      lockTtlMs: Math.ceil(member.lockTtlMs),
      heartbeatAt: now,
      expiresMono: runtime.monotonic() + member.lockTtlMs,
      // Not among what makes it another member: it changes with every heartbeat.
      status: member.status === undefined ? null : JSON.stringify(member.status),
    }
    // Who was silent for too long joins anew: others may have come in another mode meanwhile.
    const isSame =
      before !== undefined &&
      before.mode === row.mode &&
      before.messageModel === row.messageModel &&
      before.allocate === row.allocate &&
      before.subscriptions === row.subscriptions &&
      before.expiresMono > runtime.monotonic()
    if (!isSame) {
      const conflict = this.#conflict(member, groupId)
      if (conflict !== undefined) throw conflict.error
      changes.bump('rebalance')
    }
    // Where RocketMQ's broker makes it, too: before the first message can fail.
    if (row.mode === 'concurrent' && row.messageModel === 'clustering')
      ensureRetryTopic(this.#tables, member.group, now)
    members.put(row)
    return { isChanged: !isSame, groupId, refusals: this.#refused.last(groupId) }
  }

  #conflict(member: MemberHeartbeat, groupId: number): GroupConflict | undefined {
    for (const other of this.#tables.members.byGroup(groupId)) {
      if (other.clientId === member.clientId || this.#stateOf(other) !== 'alive') continue
      const conflict = groupConflict(member, other)
      if (conflict !== undefined) return conflict
    }
    return undefined
  }

  /** A write of its own: the one that refused was undone. Who was in the way may be gone by now. */
  async #tellMembers(member: MemberHeartbeat): Promise<void> {
    const isTold = await this.#store.write(
      () => {
        const groupId = this.#tables.groups.byName(member.group)?.id
        const conflict = groupId === undefined ? undefined : this.#conflict(member, groupId)
        if (groupId === undefined || conflict === undefined) return false
        this.#refused.record(groupId, member, conflict.wanted)
        return true
      },
      { wake: true },
    )
    if (isTold) this.#rebalance()
  }

  #rows(group: string): MemberClientRow[] {
    const row = this.#tables.groups.byName(group)
    return row === undefined ? [] : this.#tables.members.byGroup(row.id)
  }

  #stateOf(row: MemberClientRow): GroupMember['state'] {
    const { runtime, process } = this.#store.host
    if (this.#presence.proof(row) === 'dead') return 'dead'
    const isSilent = row.bootId === process.bootId && row.expiresMono <= runtime.monotonic()
    return isSilent ? 'silent' : 'alive'
  }

  #forget(group: string, clientId: string): void {
    const groups = this.#groupsOf.get(clientId)
    if (groups === undefined) return
    groups.delete(group)
    if (groups.size > 0) return
    this.#groupsOf.delete(clientId)
    // With a row left, a lock refers to it: without the proof of life its owner would look dead.
    if (this.#tables.clients.byId(clientId) === undefined) this.#presence.release(clientId)
  }
}

function sorted(subscriptions: readonly Subscription[]): Subscription[] {
  return subscriptions
    .map(({ topic, expressionType, expression }) => ({ topic, expressionType, expression }))
    .sort((a, b) => compareText(a.topic, b.topic))
}
