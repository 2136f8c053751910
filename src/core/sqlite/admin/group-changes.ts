import { RmqError } from '../../model/errors.ts'
import type { GroupChange, GroupConfig, GroupSpec } from '../../model/group.ts'
import { groupActive } from '../../model/group-errors.ts'
import { checkGroupSettings } from '../../model/group-settings.ts'
import { SUSPEND_MS_DEFAULT } from '../../model/limits.ts'
import { assertGroupName, retryTopicOf } from '../../model/names.ts'
import { groupNotFound } from '../committed-offsets.ts'
import type { Places } from '../places.ts'
import type { Store } from '../store.ts'
import type { Changes } from '../tables/changes.ts'
import type { Clients } from '../tables/clients.ts'
import { type GroupRow, type GroupSettings, type Groups, toGroupConfig } from '../tables/groups.ts'
import type { Members } from '../tables/members.ts'
import type { QueueLocks } from '../tables/queue-locks.ts'
import type { Topics } from '../tables/topics.ts'
import type { GroupActivity } from './group-activity.ts'
import { removeTopic } from './remove-topic.ts'

/** RocketMQ's `SubscriptionGroupConfig` where it has the setting. */
const DEFAULTS: GroupSettings = {
  maxReconsumeTimes: -1,
  suspendMs: SUSPEND_MS_DEFAULT,
  consumeEnable: 1,
  trace: 0,
}

export interface GroupChangesParts {
  readonly topics: Topics
  readonly groups: Groups
  readonly clients: Clients
  readonly members: Members
  readonly changes: Changes
  readonly queueLocks: QueueLocks
  readonly places: Places
  readonly rebalance: () => void
}

/** Groups made, changed and deleted by people. */
export class GroupChanges {
  readonly #store: Store
  readonly #parts: GroupChangesParts
  readonly #activity: GroupActivity

  constructor(store: Store, parts: GroupChangesParts, activity: GroupActivity) {
    this.#store = store
    this.#parts = parts
    this.#activity = activity
  }

  async create(spec: GroupSpec): Promise<GroupConfig> {
    assertGroupName(spec.group)
    checkGroupSettings(spec)
    const createdAt = Math.floor(this.#store.host.runtime.now())
    const create = () => {
      const { groups } = this.#parts
      if (!groups.create(spec.group, applied(DEFAULTS, spec), createdAt)) throw groupExists(spec.group)
      return this.#get(spec.group)
    }
    return toGroupConfig(await this.#store.write(create, { durable: true, wake: true }))
  }

  /** Members read most settings when they start; whether they may consume they hear of at once. */
  async alter(group: string, change: GroupChange): Promise<GroupConfig> {
    checkGroupSettings(change)
    const { groups, changes } = this.#parts
    const alter = () => {
      const before = this.#get(group)
      const settings = applied(before, change)
      groups.update(before.id, settings)
      if (settings.consumeEnable !== before.consumeEnable) changes.bump('rebalance')
      return this.#get(group)
    }
    const row = await this.#store.write(alter, { durable: true, wake: true })
    this.#parts.rebalance()
    return toGroupConfig(row)
  }

  /** With its retry topic, in which nobody else has a part. */
  async delete(group: string): Promise<void> {
    const { groups, topics, members, queueLocks, clients, changes, places } = this.#parts
    const remove = () => {
      const { id } = this.#get(group)
      const busyBy = this.#activity.busyBy(group)
      if (busyBy.length > 0) throw groupActive(group, 'delete', busyBy)
      const left = [...members.byGroup(id), ...queueLocks.owned({ group })].map(({ clientId }) => clientId)
      groups.remove(id)
      const retryTopic = topics.byName(retryTopicOf(group))
      if (retryTopic !== undefined) removeTopic(this.#store.db, retryTopic.id)
      for (const clientId of new Set(left)) clients.removeUnused(clientId)
      changes.bump('rebalance')
    }
    await this.#store.write(remove, { durable: true, wake: true })
    places.forgetGroup(group)
    this.#parts.rebalance()
  }

  #get(group: string): GroupRow {
    const row = this.#parts.groups.byName(group)
    if (row === undefined) throw groupNotFound(group)
    return row
  }
}

function applied(before: GroupSettings, change: GroupChange): GroupSettings {
  const { maxReconsumeTimes, suspendMs, consumeEnable, trace } = change
  return {
    maxReconsumeTimes: maxReconsumeTimes ?? before.maxReconsumeTimes,
    suspendMs: suspendMs ?? before.suspendMs,
    consumeEnable: consumeEnable === undefined ? before.consumeEnable : Number(consumeEnable),
    trace: trace === undefined ? before.trace : Number(trace),
  }
}

function groupExists(group: string): RmqError {
  return new RmqError('GROUP_EXISTS', `group ${group} exists already`, {
    why: 'somebody made it, or the first consumer that joined it did',
    hint: `rmq groups describe ${group}, or create it with --if-not-exists`,
    details: { group },
  })
}
