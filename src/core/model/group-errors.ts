import { RmqError } from './errors.ts'

/** Who keeps a group busy: a member, or the owner of a queue lock. */
export interface GroupBusyBy {
  readonly clientId: string
  readonly pid: number
  readonly host: string
}

/** Names in a message; the details have them all. */
const NAMED_MAX = 3

const REFUSED = {
  delete: { what: 'it is not deleted', hint: 'stop them first' },
  reset: {
    what: 'its offsets are not moved',
    hint: 'stop them, or add --force: their locks are taken away, and their late commits are refused',
  },
} as const

/** Something that wants a group at rest, while these clients consume as it. */
export function groupActive(
  group: string,
  purpose: keyof typeof REFUSED,
  busyBy: readonly GroupBusyBy[],
): RmqError {
  const { what, hint } = REFUSED[purpose]
  const names = busyBy.slice(0, NAMED_MAX).map(({ clientId, pid, host }) => `${clientId} (${pid}@${host})`)
  const more = busyBy.length - names.length
  const list = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')
  const many = busyBy.length === 1 ? '1 member lives' : `${busyBy.length} members live`
  return new RmqError('GROUP_ACTIVE', `group ${group} is active: ${what}`, {
    why: `${many}: ${list}`,
    hint,
    details: { group, members: busyBy },
  })
}

/** An offset of a broadcasting group means nothing: there is one for each member. */
export function groupBroadcasts(group: string, why: string): RmqError {
  return new RmqError(
    'GROUP_CONFLICT',
    `group ${group} is broadcasting: it has no offsets of its own to move`,
    {
      why,
      hint: 'a member that starts under another --client-id begins anew, where its --from says',
      details: { group },
    },
  )
}
