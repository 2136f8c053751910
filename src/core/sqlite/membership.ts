import { RmqError } from '../model/errors.ts'
import type { ConsumeMode, GroupMember, MemberHeartbeat, Subscription } from '../model/group.ts'
import { compareText } from '../model/message-queue.ts'
import type { ClientPresence } from './client-presence.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { Clients } from './tables/clients.ts'
import type { Groups } from './tables/groups.ts'
import type { MemberClientRow, MemberRow, Members } from './tables/members.ts'

export interface MembershipTables {
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
  /** Groups of each client of this process, from the moment it asks to join. */
  readonly #groupsOf = new Map<string, Set<string>>()

  constructor(store: Store, tables: MembershipTables, presence: ClientPresence, rebalance: () => void) {
    this.#store = store
    this.#tables = tables
    this.#presence = presence
    this.#rebalance = rebalance
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
      const changed = await this.#store.write(() => this.#join(member), { wake: isNew })
      if (changed) this.#rebalance()
    } catch (error) {
      if (isNew) this.#forget(group, clientId)
      throw error
    }
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
      subscriptions: subscriptionsOf(row),
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

  #join(member: MemberHeartbeat): boolean {
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
      subscriptions: JSON.stringify(sorted(member.subscriptions)),
      lockTtlMs: Math.ceil(member.lockTtlMs),
      heartbeatAt: now,
      expiresMono: runtime.monotonic() + member.lockTtlMs,
    }
    // Who was silent for too long joins anew: others may have come in another mode meanwhile.
    const isSame =
      before !== undefined &&
      before.mode === row.mode &&
      before.subscriptions === row.subscriptions &&
      before.expiresMono > runtime.monotonic()
    if (!isSame) {
      this.#checkConflict(member, groupId)
      changes.bump('rebalance')
    }
    members.put(row)
    return !isSame
  }

  #checkConflict(member: MemberHeartbeat, groupId: number): void {
    for (const other of this.#tables.members.byGroup(groupId)) {
      if (other.clientId === member.clientId || this.#stateOf(other) !== 'alive') continue
      if (other.mode !== member.mode) throw modeConflict(member, other)
      const theirs = subscriptionsOf(other)
      for (const ours of member.subscriptions) {
        const same = theirs.find(({ topic }) => topic === ours.topic)
        if (same !== undefined && !isEqual(ours, same)) throw subscriptionConflict(member, other, ours, same)
      }
    }
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

function subscriptionsOf(row: MemberRow): Subscription[] {
  return JSON.parse(row.subscriptions) as Subscription[]
}

function isEqual(a: Subscription, b: Subscription): boolean {
  return a.expressionType === b.expressionType && a.expression === b.expression
}

function modeConflict(member: MemberHeartbeat, other: MemberClientRow): RmqError {
  const [ours, theirs]: ConsumeMode[] = [member.mode, other.mode]
  return new RmqError('GROUP_CONFLICT', `group ${member.group} is consumed in another mode`, {
    why: `member ${other.clientId} (${other.pid}@${other.host}) is ${theirs}; this one would be ${ours}`,
    hint: 'use another group with -g, or stop the other members',
    details: { group: member.group, clientId: other.clientId, mode: ours, otherMode: theirs },
  })
}

function subscriptionConflict(
  member: MemberHeartbeat,
  other: MemberClientRow,
  ours: Subscription,
  theirs: Subscription,
): RmqError {
  const show = ({ expressionType, expression }: Subscription) =>
    `${expressionType} ${JSON.stringify(expression)}`
  return new RmqError('GROUP_CONFLICT', `group ${member.group} subscribes to ${ours.topic} in another way`, {
    why: `member ${other.clientId} (${other.pid}@${other.host}) wants ${show(theirs)}; this one wants ${show(ours)}`,
    hint: 'members of a group must want the same: use another group with -g, or the same expression',
    details: {
      group: member.group,
      clientId: other.clientId,
      topic: ours.topic,
      expression: ours.expression,
      otherExpression: theirs.expression,
    },
  })
}
