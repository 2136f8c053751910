import type { Broker } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import type { ConsumeMode, GroupMember, Subscription } from '../model/group.ts'

export interface PullMembershipOptions {
  readonly broker: Broker
  readonly group: string
  readonly clientId: string
  readonly lockTtlMs: number
}

/**
 * A pull consumer as a member of its group: it can be seen, its offsets are not reset under it, and its death is
 * noticed. It names no topics, so that it has no share in their allocation: it has what it locked.
 */
export class PullMembership {
  readonly #options: PullMembershipOptions
  #mode: ConsumeMode | undefined

  constructor(options: PullMembershipOptions) {
    this.#options = options
  }

  /** Joins the group, in the mode of those who are there: under locks either is safe beside a pull. GROUP_CONFLICT. */
  async join(subscriptions: readonly Subscription[]): Promise<void> {
    const { broker, group, clientId } = this.#options
    const others = (await broker.members(group)).filter(
      (member) => member.state === 'alive' && member.clientId !== clientId,
    )
    for (const other of others) {
      for (const ours of subscriptions) refuseOtherExpression(group, ours, other)
    }
    this.#mode ??= others[0]?.mode ?? 'orderly'
    await this.heartbeat()
  }

  async heartbeat(): Promise<void> {
    const { broker, group, clientId, lockTtlMs } = this.#options
    const mode = this.#mode ?? 'orderly'
    await broker.heartbeat({ group, clientId, mode, subscriptions: [], lockTtlMs })
  }

  async leave(): Promise<void> {
    const { broker, group, clientId } = this.#options
    if (this.#mode === undefined) return
    this.#mode = undefined
    await broker.unregister(group, clientId)
  }
}

/** What this one's filter passes over would be committed, and the other member would never see it. */
function refuseOtherExpression(
  group: string,
  ours: Subscription,
  { subscriptions, ...other }: GroupMember,
): void {
  const theirs = subscriptions.find(({ topic }) => topic === ours.topic)
  if (!theirs) return
  if (theirs.expressionType === ours.expressionType && theirs.expression === ours.expression) return
  const { clientId, process } = other
  const show = ({ expressionType, expression }: Subscription) =>
    `${expressionType} ${JSON.stringify(expression)}`
  throw new RmqError('GROUP_CONFLICT', `group ${group} subscribes to ${ours.topic} in another way`, {
    why: `member ${clientId} (${process.pid}@${process.host}) wants ${show(theirs)}; this one wants ${show(ours)}`,
    hint: 'members of a group must want the same: use another group with -g, or the same expression',
    details: {
      group,
      clientId,
      topic: ours.topic,
      expression: ours.expression,
      otherExpression: theirs.expression,
    },
  })
}
