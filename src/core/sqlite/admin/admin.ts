import type { BrokerAdmin, OffsetReset, QueueOffset } from '../../broker.ts'
import type { GroupChange, GroupConfig, GroupSpec } from '../../model/group.ts'
import type { Barrier, TopicChange, TopicConfig } from '../../model/topic.ts'
import type { ClientPresence } from '../client-presence.ts'
import type { Membership } from '../membership.ts'
import type { Places } from '../places.ts'
import type { Store } from '../store.ts'
import type { Attempts } from '../tables/attempts.ts'
import type { Changes } from '../tables/changes.ts'
import type { Clients } from '../tables/clients.ts'
import type { ConsumerOffsets } from '../tables/consumer-offsets.ts'
import type { DeadLetters } from '../tables/dead-letters.ts'
import type { Groups } from '../tables/groups.ts'
import type { Members } from '../tables/members.ts'
import type { Messages } from '../tables/messages.ts'
import type { ParkedKeyTable } from '../tables/parked-keys.ts'
import type { QueueLocks } from '../tables/queue-locks.ts'
import type { Queues } from '../tables/queues.ts'
import type { Topics } from '../tables/topics.ts'
import { GroupActivity } from './group-activity.ts'
import { GroupChanges } from './group-changes.ts'
import { OffsetResets } from './offset-resets.ts'
import { TopicChanges } from './topic-changes.ts'

export interface AdminParts {
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly groups: Groups
  readonly clients: Clients
  readonly members: Members
  readonly changes: Changes
  readonly attempts: Attempts
  readonly queueLocks: QueueLocks
  readonly deadLetters: DeadLetters
  readonly consumerOffsets: ConsumerOffsets
  readonly parkedKeys: ParkedKeyTable
  readonly places: Places
  readonly presence: ClientPresence
  readonly membership: Membership
  /** Members, locks or settings of groups changed: tells those of this process. */
  readonly rebalance: () => void
}

/** What people change by command. Only wires and delegates; the rules are in the parts. */
export class Admin implements BrokerAdmin {
  readonly #topics: TopicChanges
  readonly #groups: GroupChanges
  readonly #offsets: OffsetResets

  constructor(store: Store, parts: AdminParts) {
    const activity = new GroupActivity(parts)
    this.#topics = new TopicChanges(store, parts, activity)
    this.#groups = new GroupChanges(store, parts, activity)
    this.#offsets = new OffsetResets(store, parts, activity)
  }

  alterTopic(topic: string, change: TopicChange): Promise<TopicConfig> {
    return this.#topics.alter(topic, change)
  }

  deleteTopic(topic: string): Promise<void> {
    return this.#topics.delete(topic)
  }

  barriers(topic: string): Promise<readonly Barrier[]> {
    return this.#topics.barriers(topic)
  }

  createGroup(spec: GroupSpec): Promise<GroupConfig> {
    return this.#groups.create(spec)
  }

  alterGroup(group: string, change: GroupChange): Promise<GroupConfig> {
    return this.#groups.alter(group, change)
  }

  deleteGroup(group: string): Promise<void> {
    return this.#groups.delete(group)
  }

  resetOffsets(
    group: string,
    offsets: readonly QueueOffset[],
    options: { readonly force: boolean },
  ): Promise<readonly OffsetReset[]> {
    return this.#offsets.reset(group, offsets, options)
  }
}
