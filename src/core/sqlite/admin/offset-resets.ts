import type { OffsetReset, QueueOffset } from '../../broker.ts'
import { RmqError } from '../../model/errors.ts'
import { groupActive, groupBroadcasts } from '../../model/group-errors.ts'
import { type MessageQueue, queueKey } from '../../model/message-queue.ts'
import { countReset } from '../../model/offset-reset.ts'
import { groupNotFound } from '../committed-offsets.ts'
import type { Membership } from '../membership.ts'
import type { Store } from '../store.ts'
import type { Attempts } from '../tables/attempts.ts'
import type { Changes } from '../tables/changes.ts'
import type { Clients } from '../tables/clients.ts'
import type { ConsumerOffsets } from '../tables/consumer-offsets.ts'
import type { GroupRow, Groups } from '../tables/groups.ts'
import type { ParkedKeyTable } from '../tables/parked-keys.ts'
import type { QueueLocks } from '../tables/queue-locks.ts'
import type { Queues } from '../tables/queues.ts'
import type { Topics } from '../tables/topics.ts'
import type { GroupActivity } from './group-activity.ts'
import { OriginalRounds } from './original-rounds.ts'

export interface OffsetResetsParts {
  readonly topics: Topics
  readonly queues: Queues
  readonly groups: Groups
  readonly clients: Clients
  readonly changes: Changes
  readonly attempts: Attempts
  readonly queueLocks: QueueLocks
  readonly consumerOffsets: ConsumerOffsets
  readonly parkedKeys: ParkedKeyTable
  readonly membership: Membership
  readonly rebalance: () => void
}

/** Committed offsets moved by people, backwards too: all queues of a call in one transaction, or none. */
export class OffsetResets {
  readonly #store: Store
  readonly #parts: OffsetResetsParts
  readonly #activity: GroupActivity
  readonly #rounds: OriginalRounds

  constructor(store: Store, parts: OffsetResetsParts, activity: GroupActivity) {
    this.#store = store
    this.#parts = parts
    this.#activity = activity
    this.#rounds = new OriginalRounds(store.db, parts)
  }

  async reset(
    group: string,
    offsets: readonly QueueOffset[],
    { force }: { readonly force: boolean },
  ): Promise<readonly OffsetReset[]> {
    checkOffsets(offsets)
    const { groups, parkedKeys, changes } = this.#parts
    const reset = () => {
      const row = groups.byName(group)
      if (row === undefined) throw groupNotFound(group)
      this.#refuseBroadcasting(row)
      const busyBy = this.#activity.busyBy(group)
      if (busyBy.length > 0 && !force) throw groupActive(group, 'reset', busyBy)
      const now = Math.floor(this.#store.host.runtime.now())
      const resets = offsets.map(({ mq, offset }) => this.#move(row, mq, offset, now))
      // A key is parked for as long as a message of it waits among the dead letters. Those whose round comes again
      // do not wait: the key reopens, and they come in order. Where an earlier one stays dead the key stays parked,
      // and the later ones follow it anew when their round reaches them.
      parkedKeys.reopen(row.id)
      changes.bump('rebalance')
      return resets
    }
    const resets = await this.#store.write(reset, { durable: true, wake: true })
    this.#parts.rebalance()
    return resets
  }

  #move({ id: groupId, name: group }: GroupRow, mq: MessageQueue, wanted: number, now: number): OffsetReset {
    const { queues, consumerOffsets } = this.#parts
    const queue = queues.resolve(mq)
    const to = Math.min(Math.max(wanted, queue.minOffset), queue.maxOffset)
    const done = consumerOffsets.done(groupId, queue.id)
    const before = done ?? { offset: queue.minOffset, ahead: [] }
    const place = { groupId, group, queueRow: queue.id, ...before, to }
    this.#takeLock(groupId, queue.id)
    this.#rounds.dropAttempts(place)
    this.#rounds.markDeadLetters(place, now)
    for (const retryQueue of this.#rounds.dropRetries(place, now)) this.#takeLock(groupId, retryQueue)
    consumerOffsets.put(groupId, queue.id, { offset: to, ahead: [] }, now)
    return { mq, from: done?.offset ?? null, to, ...countReset(done ?? null, queue, to) }
  }

  /**
   * The owner loses the lock, also one that only sleeps: its late commit would move the offset again. A dead one
   * commits nothing more, and who comes next still has to wait for a handler of it that runs on.
   */
  #takeLock(groupId: number, queueRow: number): void {
    const { queueLocks, clients } = this.#parts
    const lock = queueLocks.byKey(groupId, queueRow)
    if (lock === undefined || lock.clientId === null) return
    const { state, leaseLeftMs } = this.#activity.viewOwner(lock)
    if (state === 'dead' || state === 'handler-running') return
    // Nothing is left of what it had taken, so nothing has to be gone through carefully for it.
    if (leaseLeftMs > 0) queueLocks.takeAway(lock, 1, 'forced', 0)
    else queueLocks.takeAway(lock, 0, 'expired', 0)
    clients.removeUnused(lock.clientId)
  }

  /** Not even with force: its members would not look at what is written here. */
  #refuseBroadcasting({ id, name }: GroupRow): void {
    const living = this.#parts.membership
      .members(name)
      .filter(({ messageModel, state }) => messageModel === 'broadcasting' && state === 'alive')
    if (living.length > 0) {
      throw groupBroadcasts(name, `member ${living[0]?.clientId} is broadcasting: it keeps its own offsets`)
    }
    const clients = this.#store.db
      .prepare<[number, number], number>(
        `select count(distinct client_id) from broadcast_offset
         where group_id = ? and not exists (select 1 from consumer_offset where group_id = ?)`,
      )
      .pluck()
      .get(id, id)
    if (!clients) return
    const who = clients === 1 ? 'its client keeps' : `each of its ${clients} clients keeps`
    throw groupBroadcasts(name, `${who} its own offsets`)
  }
}

function checkOffsets(offsets: readonly QueueOffset[]): void {
  const seen = new Set<string>()
  for (const { mq, offset } of offsets) {
    if (!Number.isSafeInteger(offset)) {
      throw new RmqError('INVALID_ARGUMENT', `${offset} is not an offset`, {
        why: 'an offset is a whole number',
      })
    }
    const key = queueKey(mq)
    if (seen.has(key)) {
      throw new RmqError('INVALID_ARGUMENT', `queue ${mq.queueId} of topic ${mq.topic} is named twice`)
    }
    seen.add(key)
  }
}
