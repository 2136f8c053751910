import { RmqError } from '../model/errors.ts'
import type { MemberHeartbeat, Subscription } from '../model/group.ts'
import type { MemberClientRow, MemberRow } from './tables/members.ts'

/** The strategy of members that name none. */
export const ALLOCATE_DEFAULT = 'averagely'

/** Why a client is kept out of a group. */
export interface GroupConflict {
  /** For the client. */
  readonly error: RmqError
  /** For the members, what it wanted: `as a concurrent consumer`. */
  readonly wanted: string
}

/**
 * What keeps a client out of a group while another one lives in it, `undefined` when they go together. RocketMQ
 * looks at none of this: the last heartbeat wins, and messages are skipped, handled twice or left lying.
 */
export function groupConflict(member: MemberHeartbeat, other: MemberClientRow): GroupConflict | undefined {
  const { mode } = member
  if (other.mode !== mode)
    return { error: modeConflict(member, other), wanted: `as ${articled(mode)} consumer` }
  const model = member.messageModel ?? 'clustering'
  if (other.messageModel !== model)
    return { error: modelConflict(member, other, model), wanted: `as ${articled(model)} consumer` }
  const theirs = subscriptionsOf(other)
  for (const ours of member.subscriptions) {
    const same = theirs.find(({ topic }) => topic === ours.topic)
    if (same === undefined) continue
    if (!isEqual(ours, same)) {
      const error = subscriptionConflict(member, other, ours, same)
      return { error, wanted: `with ${show(ours)} on ${ours.topic}` }
    }
    const allocate = member.allocate ?? ALLOCATE_DEFAULT
    if (model === 'clustering' && other.allocate !== allocate) {
      const error = allocateConflict(member, other, allocate, ours.topic)
      return { error, wanted: `with the strategy ${allocate} on ${ours.topic}` }
    }
  }
  return undefined
}

export function subscriptionsOf(row: MemberRow): Subscription[] {
  return JSON.parse(row.subscriptions) as Subscription[]
}

function isEqual(a: Subscription, b: Subscription): boolean {
  return a.expressionType === b.expressionType && a.expression === b.expression
}

function modeConflict({ group, mode }: MemberHeartbeat, other: MemberClientRow): RmqError {
  return new RmqError('GROUP_CONFLICT', `group ${group} is consumed in another mode`, {
    why: `member ${nameOf(other)} is ${other.mode}; this one would be ${mode}`,
    hint: 'use another group with -g, or stop the other members',
    details: { group, clientId: other.clientId, mode, otherMode: other.mode },
  })
}

function modelConflict({ group }: MemberHeartbeat, other: MemberClientRow, messageModel: string): RmqError {
  return new RmqError('GROUP_CONFLICT', `group ${group} is consumed in another message model`, {
    why: `member ${nameOf(other)} is ${other.messageModel}; this one would be ${messageModel}`,
    hint: 'use another group with -g, or start all members with --broadcast, or none',
    details: { group, clientId: other.clientId, messageModel, otherMessageModel: other.messageModel },
  })
}

function subscriptionConflict(
  { group }: MemberHeartbeat,
  other: MemberClientRow,
  ours: Subscription,
  theirs: Subscription,
): RmqError {
  return new RmqError('GROUP_CONFLICT', `group ${group} subscribes to ${ours.topic} in another way`, {
    why: `member ${nameOf(other)} wants ${show(theirs)}; this one wants ${show(ours)}`,
    hint: 'members of a group must want the same: use another group with -g, or the same expression',
    details: {
      group,
      clientId: other.clientId,
      topic: ours.topic,
      expression: ours.expression,
      otherExpression: theirs.expression,
    },
  })
}

/** Each member computes its own share: by two rules some queues are in two shares, and some in none. */
function allocateConflict(
  { group }: MemberHeartbeat,
  other: MemberClientRow,
  allocate: string,
  topic: string,
): RmqError {
  return new RmqError('GROUP_CONFLICT', `group ${group} shares out ${topic} by another strategy`, {
    why: `member ${nameOf(other)} allocates ${other.allocate}, this one would ${allocate}: queues might be left to nobody`,
    hint: `use --allocate ${other.allocate}, or another group with -g, or stop the other members`,
    details: { group, clientId: other.clientId, topic, allocate, otherAllocate: other.allocate },
  })
}

function show({ expressionType, expression }: Subscription): string {
  return `${expressionType} ${JSON.stringify(expression)}`
}

function articled(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
}

function nameOf({ clientId, pid, host }: MemberClientRow): string {
  return `${clientId} (${pid}@${host})`
}
