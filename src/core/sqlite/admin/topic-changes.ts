import { RmqError } from '../../model/errors.ts'
import { isSystemTopic } from '../../model/names.ts'
import type { Barrier, TopicChange, TopicConfig } from '../../model/topic.ts'
import { checkTopicSettings } from '../../model/topic-settings.ts'
import { Barriers } from '../barriers.ts'
import type { Membership } from '../membership.ts'
import type { Store } from '../store.ts'
import { BarrierTable } from '../tables/barriers.ts'
import type { Changes } from '../tables/changes.ts'
import type { Groups } from '../tables/groups.ts'
import type { QueueLocks } from '../tables/queue-locks.ts'
import type { Queues } from '../tables/queues.ts'
import { type TopicRow, type TopicSettings, type Topics, toTopicConfig } from '../tables/topics.ts'
import type { GroupActivity } from './group-activity.ts'
import { removeTopic } from './remove-topic.ts'

export interface TopicChangesParts {
  readonly topics: Topics
  readonly queues: Queues
  readonly groups: Groups
  readonly membership: Membership
  readonly queueLocks: QueueLocks
  readonly changes: Changes
  readonly rebalance: () => void
}

/** Topics changed and deleted by people. */
export class TopicChanges {
  readonly #store: Store
  readonly #parts: TopicChangesParts
  readonly #activity: GroupActivity
  readonly #barrierTable: BarrierTable
  readonly #barriers: Barriers

  constructor(store: Store, parts: TopicChangesParts, activity: GroupActivity) {
    this.#store = store
    this.#parts = parts
    this.#activity = activity
    this.#barrierTable = new BarrierTable(store.db)
    this.#barriers = new Barriers(this.#barrierTable)
  }

  async alter(name: string, change: TopicChange): Promise<TopicConfig> {
    checkTopicSettings(change, 'rmq topics alter')
    const { topics, changes } = this.#parts
    const alter = () => {
      const before = topics.get(name)
      refuseSystemTopic(before, 'altered')
      const after = applied(before, change)
      if (after.queues !== before.queues) this.#changeQueues(before, after.queues)
      topics.update(before.id, after)
      if (after.queues !== before.queues || after.perm !== before.perm) changes.bump('rebalance')
      return topics.get(name)
    }
    const row = await this.#store.write(alter, { durable: true, wake: true })
    this.#parts.rebalance()
    return toTopicConfig(row)
  }

  async delete(name: string): Promise<void> {
    const { topics, changes } = this.#parts
    const remove = () => {
      const topic = topics.get(name)
      refuseSystemTopic(topic, 'deleted')
      this.#refuseWhileConsumed(name)
      removeTopic(this.#store.db, topic.id)
      changes.bump('rebalance')
    }
    await this.#store.write(remove, { durable: true, wake: true })
    this.#parts.rebalance()
  }

  async barriers(name: string): Promise<readonly Barrier[]> {
    return this.#barriers.standing(this.#parts.topics.get(name))
  }

  /** Queues of an earlier time go on where they ended. Inside a write job. */
  #changeQueues(topic: TopicRow, queues: number): void {
    const known = this.#parts.queues.byTopic(topic.id)
    // Also where nothing was stored yet and nobody has to wait: a delayed message sees by it that its queue may differ.
    const now = Math.floor(this.#store.host.runtime.now())
    this.#barrierTable.raise(topic.id, topic.queues, queues, now)
    const ids = new Set(known.map(({ queueId }) => queueId))
    for (let queueId = 0; queueId < queues; queueId++) {
      if (!ids.has(queueId)) this.#parts.queues.create(topic.id, queueId)
    }
  }

  #refuseWhileConsumed(topic: string): void {
    const { groups, membership, queueLocks } = this.#parts
    const busy = groups.all().flatMap(({ name: group }) => {
      const members = membership
        .members(group)
        .filter(({ state, subscriptions }) => {
          return state === 'alive' && subscriptions.some((subscription) => subscription.topic === topic)
        })
        .map(({ clientId }) => clientId)
      // A client that left without giving its locks back may still be at work.
      const owners = queueLocks.owned({ group, topic }).filter((lock) => this.#activity.isLive(lock))
      const clientIds = new Set([...members, ...owners.map(({ clientId }) => clientId)])
      return clientIds.size === 0 ? [] : [{ group, members: [...clientIds].sort() }]
    })
    if (busy.length > 0) throw topicConsumed(topic, busy)
  }
}

function applied(before: TopicRow, { queues, retentionMs, maxBody, perm }: TopicChange): TopicSettings {
  return {
    queues: queues ?? before.queues,
    retentionMs: retentionMs === undefined ? before.retentionMs : retentionMs,
    maxBody: maxBody ?? before.maxBody,
    perm: perm ?? before.perm,
  }
}

function refuseSystemTopic({ name }: TopicRow, what: string): void {
  if (!isSystemTopic(name)) return
  throw new RmqError('INVALID_NAME', `topic ${name} cannot be ${what}`, {
    why: 'it is a system topic: it belongs to the broker, or to the group whose name it bears',
    hint: 'a retry topic goes with its group: rmq groups delete',
    details: { topic: name },
  })
}

function topicConsumed(
  topic: string,
  busy: readonly { readonly group: string; readonly members: readonly string[] }[],
): RmqError {
  const list = busy.map(({ group, members }) => `${group} (${members.join(', ')})`).join(', ')
  return new RmqError('GROUP_ACTIVE', `topic ${topic} is being consumed: deleting it is refused`, {
    why: `${busy.length === 1 ? '1 group has' : `${busy.length} groups have`} living members on it: ${list}`,
    hint: 'stop them first (rmq groups list shows who consumes what)',
    details: { topic, groups: busy },
  })
}
