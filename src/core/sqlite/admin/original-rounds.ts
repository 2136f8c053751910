import type Database from 'better-sqlite3'
import { type DoneRange, mergeDone } from '../../model/done-ranges.ts'
import { retryTopicOf } from '../../model/names.ts'
import { ORIGIN_PLACE } from '../../model/properties.ts'
import type { Attempts } from '../tables/attempts.ts'
import type { ConsumerOffsets } from '../tables/consumer-offsets.ts'
import type { Queues } from '../tables/queues.ts'
import type { Topics } from '../tables/topics.ts'

/** One queue of a group, before its offset is moved to `to`. */
export interface ResetPlace {
  readonly groupId: number
  readonly group: string
  readonly queueRow: number
  /** Committed offset and what was done with beyond it, until now. */
  readonly offset: number
  readonly ahead: readonly DoneRange[]
  readonly to: number
}

const FROM_THERE = `properties ->> '${ORIGIN_PLACE}' ->> 'queueRow' = @queueRow
  and properties ->> '${ORIGIN_PLACE}' ->> 'offset' >= @to`

/**
 * Messages that had left their queue, when a reset brings them back into it: what was kept of their old round ends,
 * or the same message would be delivered twice. Inside write jobs.
 */
export class OriginalRounds {
  readonly #db: Database.Database
  readonly #tables: {
    readonly topics: Topics
    readonly queues: Queues
    readonly attempts: Attempts
    readonly consumerOffsets: ConsumerOffsets
  }
  readonly #mark: Database.Statement<[Record<string, number>]>
  readonly #unmark: Database.Statement<[Record<string, number | string>]>
  readonly #dropAttempts: Database.Statement<[Record<string, number>]>

  constructor(
    db: Database.Database,
    tables: { topics: Topics; queues: Queues; attempts: Attempts; consumerOffsets: ConsumerOffsets },
  ) {
    this.#db = db
    this.#tables = tables
    this.#mark = db.prepare(
      `update dead_letter set reset_at = @now,
         settled_at = iif(state = 'replayed', coalesce(settled_at, @now), settled_at)
       where group_id = @groupId and queue_row = @queueRow and offset >= @to`,
    )
    this.#unmark = db.prepare(
      `update dead_letter set reset_at = null
       where group_id = @groupId and queue_row = @queueRow and reset_at is not null
         and offset >= @offset and offset < @to
         and not exists (select 1 from json_each(@ahead)
           where dead_letter.offset >= value ->> 0 and dead_letter.offset < value ->> 1)`,
    )
    this.#dropAttempts = db.prepare(
      `delete from attempt
       where group_id = @groupId and queue_id = @queueRow and (replay = 0 or offset >= @to)`,
    )
  }

  /**
   * Dead letters from `to` on stay, and say that their original round comes again; one that waits in the redelivery
   * lane leaves it, since that round is the replay that was asked for. One whose second round was still to come and
   * is skipped now is as dead as before.
   */
  markDeadLetters({ groupId, queueRow, offset, ahead, to }: ResetPlace, now: number): void {
    this.#mark.run({ groupId, queueRow, to, now })
    this.#unmark.run({ groupId, queueRow, to, offset, ahead: JSON.stringify(ahead) })
  }

  /** All of live messages: those below are done with or skipped, the others begin anew. Replays below `to` keep theirs. */
  dropAttempts({ groupId, queueRow, to }: ResetPlace): void {
    this.#dropAttempts.run({ groupId, queueRow, to })
  }

  /**
   * Retries of messages from `to` on do not come: delayed ones are removed, those that have reached the retry topic
   * are marked as done with there. Answers the queues of the retry topic where it marked some.
   */
  dropRetries({ groupId, group, queueRow, to }: ResetPlace, now: number): number[] {
    const { topics, queues } = this.#tables
    const retryTopic = topics.byName(retryTopicOf(group))
    if (retryTopic === undefined) return []
    return queues.byTopic(retryTopic.id).flatMap(({ id: retryQueue, minOffset }) => {
      this.#db
        .prepare<[Record<string, number>]>(
          `delete from delayed_message where queue_id = @retryQueue and ${FROM_THERE}`,
        )
        .run({ retryQueue, queueRow, to })
      return this.#passRetries({ groupId, retryQueue, minOffset, queueRow, to }, now) ? [retryQueue] : []
    })
  }

  #passRetries(
    place: { groupId: number; retryQueue: number; minOffset: number; queueRow: number; to: number },
    now: number,
  ): boolean {
    const { attempts, consumerOffsets } = this.#tables
    const { groupId, retryQueue, minOffset, queueRow, to } = place
    const done = consumerOffsets.done(groupId, retryQueue) ?? { offset: minOffset, ahead: [] }
    const waiting = this.#db
      .prepare<[Record<string, number>], number>(
        `select offset from message_${retryQueue} where offset >= @from and ${FROM_THERE} order by offset`,
      )
      .pluck()
      .all({ from: done.offset, queueRow, to })
      .filter((offset) => !done.ahead.some(([from, end]) => offset >= from && offset < end))
    if (waiting.length === 0) return false
    const ahead = waiting.map((offset): DoneRange => [offset, offset + 1])
    consumerOffsets.put(groupId, retryQueue, mergeDone(done, { offset: 0, ahead }), now)
    for (const offset of waiting) attempts.drop(groupId, retryQueue, offset, 0)
    return true
  }
}
