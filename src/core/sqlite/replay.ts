import type { DeadLetter, ReplayOutcome } from '../model/dead-letter.ts'
import { RmqError } from '../model/errors.ts'
import { queueOf } from '../model/hash.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import { appendCopy } from './append-copy.ts'
import { topicNotFound } from './not-found.ts'
import type { Store } from './store.ts'
import type { Changes } from './tables/changes.ts'
import type { ConsumerOffsets } from './tables/consumer-offsets.ts'
import type { DeadLetterRow, DeadLetters } from './tables/dead-letters.ts'
import type { Messages } from './tables/messages.ts'
import type { ParkedKeyTable } from './tables/parked-keys.ts'
import type { QueueRow, Queues } from './tables/queues.ts'
import type { TopicRow, Topics } from './tables/topics.ts'

export interface ReplayTables {
  readonly topics: Topics
  readonly queues: Queues
  readonly messages: Messages
  readonly deadLetters: DeadLetters
  readonly parkedKeys: ParkedKeyTable
  readonly consumerOffsets: ConsumerOffsets
  readonly changes: Changes
}

export interface ReplayRequest {
  readonly toTopic?: string
  readonly maxReplays?: number
}

/**
 * Sends a dead letter back: claim, move and mark in one transaction. Rejects when it cannot go where it should
 * (nothing is changed then); skips it when it is not there to be replayed.
 */
export class Replay {
  readonly #store: Store
  readonly #tables: ReplayTables
  readonly #redelivery: () => void

  constructor(store: Store, tables: ReplayTables, redelivery: () => void) {
    this.#store = store
    this.#tables = tables
    this.#redelivery = redelivery
  }

  async replay(deadLetter: DeadLetter, request: ReplayRequest): Promise<ReplayOutcome> {
    const outcome = await this.#store.write(() => this.#move(deadLetter, request), {
      durable: true,
      wake: true,
    })
    if (outcome.status === 'replayed' && request.toTopic === undefined) this.#redelivery()
    return outcome
  }

  #move(seen: DeadLetter, { toTopic, maxReplays }: ReplayRequest): ReplayOutcome {
    const row = this.#tables.deadLetters.byId(seen.id)
    const reason = whyNot(row, seen, maxReplays)
    if (row === undefined || reason !== undefined) return { status: 'skipped', reason: reason ?? NOT_FOUND }
    return toTopic === undefined ? this.#toLane(row) : this.#append(row, toTopic)
  }

  #toLane(row: DeadLetterRow): ReplayOutcome {
    const { topics, queues, deadLetters, parkedKeys, changes } = this.#tables
    const queue = queues.byId(row.queueRow)
    if (queue === undefined) {
      throw new RmqError('TOPIC_NOT_FOUND', `topic ${row.topic} no longer exists`, {
        ...(topics.byName(row.topic) !== undefined && {
          why: 'another topic of that name was made since; its queues have other offsets',
        }),
        hint: 'choose where it shall go with --to-topic',
        details: { topic: row.topic },
      })
    }
    if (this.#comesAgain(row)) return { status: 'skipped', reason: COMES_AGAIN }
    if (this.#isBehind(row)) return { status: 'skipped', reason: BEHIND }
    if (!deadLetters.claim(row.id, row.replays, this.#now(), null))
      return { status: 'skipped', reason: ALREADY }
    parkedKeys.reopen(row.groupId)
    changes.bump('redelivery')
    // A dropped queue has no owner where nothing was left to do.
    if (queue.queueId >= (topics.byId(queue.topicId)?.queues ?? 0)) changes.bump('rebalance')
    return { status: 'replayed', topic: row.topic, queueId: row.queueId, queueOffset: row.offset }
  }

  /** A reset has put it in front of its group once more: from the lane it would be delivered twice. */
  #comesAgain({ groupId, queueRow, offset, resetAt }: DeadLetterRow): boolean {
    const done = resetAt === null ? undefined : this.#tables.consumerOffsets.done(groupId, queueRow)
    if (done === undefined || offset < done.offset) return false
    return !done.ahead.some(([from, to]) => offset >= from && offset < to)
  }

  /** Its key is parked, and keeps its order: what lies before it is replayed, or purged, first. */
  #isBehind({ groupId, queueRow, key, offset }: DeadLetterRow): boolean {
    const { parkedKeys, deadLetters } = this.#tables
    if (key === null || !parkedKeys.has(groupId, queueRow, key)) return false
    return deadLetters.isBehind(groupId, queueRow, key, offset)
  }

  /** An ordinary message of the other topic from now on: this entry is settled. */
  #append(row: DeadLetterRow, toTopic: string): ReplayOutcome {
    const { topics, queues, messages, deadLetters, parkedKeys, changes } = this.#tables
    const topic = topics.byName(toTopic)
    if (topic === undefined) {
      throw topicNotFound(
        toTopic,
        topics.all().map(({ name }) => name),
      )
    }
    checkAccepts(topic, row)
    const now = this.#now()
    const queue = this.#target(topic, row)
    if (!deadLetters.claim(row.id, row.replays, now, now)) return { status: 'skipped', reason: ALREADY }
    const queueOffset = appendCopy(queues, messages, queue.id, row, now)
    if (parkedKeys.reopen(row.groupId) > 0) changes.bump('redelivery')
    return { status: 'replayed', topic: topic.name, queueId: queue.queueId, queueOffset }
  }

  /** The key's queue there; without a key the one of the same number, so that the order of a queue stays. */
  #target(topic: TopicRow, row: DeadLetterRow): QueueRow {
    const queueId =
      row.key === null ? row.queueId % topic.queues : queueOf(topic.hash, row.key, topic.queues).queueId
    return this.#tables.queues.resolve({ topic: topic.name, brokerName: EMBEDDED_BROKER_NAME, queueId })
  }

  #now(): number {
    return Math.floor(this.#store.host.runtime.now())
  }
}

function whyNot(
  row: DeadLetterRow | undefined,
  seen: DeadLetter,
  maxReplays: number | undefined,
): string | undefined {
  if (row === undefined) return NOT_FOUND
  if (row.state === 'replayed') return row.settledAt === null ? WAITS : ALREADY
  // Replayed and dead once more since it was looked at: that replay was somebody else's, or an earlier one.
  if (row.replays !== seen.replays) return ALREADY
  if (maxReplays === undefined || row.replays < maxReplays) return undefined
  return `replayed ${row.replays} times, --max-replays ${maxReplays}`
}

function checkAccepts(topic: TopicRow, row: DeadLetterRow): void {
  if (topic.perm === 4) {
    throw new RmqError('TOPIC_READ_ONLY', `topic ${topic.name} takes no messages`, {
      why: 'its permission is 4, read only',
      hint: `rmq topics describe ${topic.name}`,
    })
  }
  if (row.body.length > topic.maxBody) {
    throw new RmqError('MESSAGE_TOO_LARGE', `the body is too large for topic ${topic.name}`, {
      why: `it has ${row.body.length} bytes; the topic takes ${topic.maxBody}`,
      hint: 'choose a topic with a larger --max-body',
    })
  }
}

const NOT_FOUND = 'not found'
const ALREADY = 'already replayed'
const WAITS = 'already replayed, waits for its turn'
const COMES_AGAIN = 'comes again in its queue, by a reset of offsets'
const BEHIND = 'its key is parked, and an earlier message of the key comes first'
