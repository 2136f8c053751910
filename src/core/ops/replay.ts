import type { Broker } from '../broker.ts'
import type { DeadLetter, DeadLetterFilter } from '../model/dead-letter.ts'
import { RmqError } from '../model/errors.ts'
import type { Runtime } from '../model/runtime.ts'
import { missingResults } from './missing-ids.ts'
import { Pace } from './pace.ts'
import { type ReplayResult, type ReplaySummary, unmoved } from './replay-result.ts'
import { ReplayTargets } from './replay-target.ts'

/** Dead letters read at a time: bounds memory (a body may have 4 MiB) and the replays that share a transaction. */
const PAGE_SIZE = 50

export interface ReplayOptions {
  readonly group: string
  readonly filter: DeadLetterFilter
  /** Must be said when the filter is empty: everything is meant. */
  readonly all?: boolean
  /** Append to this topic instead of going back to the head of the original queue. */
  readonly toTopic?: string
  /** At most so many are replayed; skipped and failed ones do not count, so that a bad head cannot block. */
  readonly limit?: number
  readonly ratePerSecond?: number
  /** Skip what was replayed so often already. */
  readonly maxReplays?: number
  /** Say what would be done, write nothing. */
  readonly dryRun?: boolean
  /** Stops between two messages. */
  readonly signal?: AbortSignal
  /** Default: the broker's. */
  readonly runtime?: Runtime
  /** Called for each dead letter, in the order of queues and offsets. */
  readonly onResult?: (result: ReplayResult) => void
}

/**
 * Sends dead letters back to their group, in the original order of each queue. Each one is a transaction of its own
 * at the broker, so a replay may be stopped or killed at any point and run again: what was replayed is no longer
 * selected, and of two replays at once each dead letter goes to one.
 *
 * The cursor only moves forward. A message that fails again while the replay runs goes back to its old place, which
 * lies behind the cursor, and is not replayed twice in one run. A bound on the time of death would do the same, but
 * would pass over entries in silence after the clock was set back.
 *
 * GROUP_NOT_FOUND for an unknown group; INVALID_ARGUMENT when nothing says which ones are meant. A dead letter that
 * cannot be replayed is a result, not an error.
 */
export async function replayDeadLetters(broker: Broker, options: ReplayOptions): Promise<ReplaySummary> {
  checkSelection(options)
  if ((await broker.groupConfig(options.group)) === undefined) {
    throw new RmqError('GROUP_NOT_FOUND', `group ${options.group} does not exist`, {
      hint: 'rmq groups list',
    })
  }
  return await new Replay(broker, options).run()
}

function checkSelection({ filter, all, limit, ratePerSecond }: ReplayOptions): void {
  const { states: _states, ...conditions } = filter
  if (all !== true && Object.values(conditions).every((condition) => condition === undefined)) {
    throw new RmqError('INVALID_ARGUMENT', 'nothing says which dead letters to replay', {
      hint: 'name message ids, give a filter, or say --all',
    })
  }
  if (limit !== undefined && !(limit > 0)) {
    throw new RmqError('INVALID_ARGUMENT', 'the limit of a replay must be above zero', {
      why: `got ${limit}`,
    })
  }
  if (ratePerSecond !== undefined && !(ratePerSecond > 0)) {
    throw new RmqError('INVALID_ARGUMENT', 'the rate of a replay must be above zero', {
      why: `got ${ratePerSecond} a second`,
    })
  }
}

class Replay {
  readonly #broker: Broker
  readonly #options: ReplayOptions
  readonly #filter: DeadLetterFilter
  readonly #targets: ReplayTargets
  readonly #pace: Pace
  readonly #counts = { replayed: 0, skipped: 0, failed: 0 }
  readonly #seenIds = new Set<string>()

  constructor(broker: Broker, options: ReplayOptions) {
    this.#broker = broker
    this.#options = options
    const { msgIds } = options.filter
    this.#filter =
      msgIds === undefined
        ? options.filter
        : { ...options.filter, msgIds: [...new Set(msgIds.map((id) => id.toUpperCase()))] }
    this.#targets = new ReplayTargets(broker, options.toTopic)
    this.#pace = new Pace(options.ratePerSecond, options.runtime ?? broker.runtime)
  }

  async run(): Promise<ReplaySummary> {
    const { group } = this.#options
    const matchedAtStart = await this.#count()
    let after: string | undefined
    for (;;) {
      const page = await this.#broker.deadLetters.list(group, this.#filter, {
        limit: PAGE_SIZE,
        ...(after === undefined ? {} : { after }),
      })
      if (!(await this.#replayPage(page.deadLetters))) return await this.#stopped(matchedAtStart)
      if (page.next === null) break
      after = page.next
    }
    const ids = this.#filter.msgIds?.filter((id) => !this.#seenIds.has(id)) ?? []
    for (const result of await missingResults(this.#broker, group, ids)) this.#report(result)
    return this.#summary(0)
  }

  /** False when it was stopped before the end of the page. */
  async #replayPage(letters: readonly DeadLetter[]): Promise<boolean> {
    let next = 0
    while (next < letters.length) {
      const chunk = letters.slice(next, next + this.#inFlightMax())
      const results: Promise<ReplayResult>[] = []
      for (const letter of chunk) {
        await this.#pace.turn(this.#options.signal)
        if (this.#options.signal?.aborted) break
        results.push(this.#replayOne(letter))
      }
      for (const result of await Promise.all(results)) this.#report(result)
      if (results.length === 0) return false
      next += results.length
    }
    return true
  }

  /**
   * In a redelivery lane the original offsets make the order, so replays may overlap and share a transaction.
   * An appended message takes its place when it arrives: one at a time. So with a rate, to report as it goes.
   */
  #inFlightMax(): number {
    const { limit = Number.POSITIVE_INFINITY, toTopic, ratePerSecond } = this.#options
    const byLimit = limit - this.#counts.replayed
    const ordered = toTopic === undefined && this.#broker.redelivery !== undefined
    return Math.min(byLimit, ordered && ratePerSecond === undefined ? PAGE_SIZE : 1)
  }

  async #replayOne(letter: DeadLetter): Promise<ReplayResult> {
    const { maxReplays, toTopic, dryRun } = this.#options
    if (maxReplays !== undefined && letter.replays >= maxReplays) {
      return unmoved(letter, 'skipped', `replayed ${letter.replays} times, --max-replays ${maxReplays}`)
    }
    if (dryRun) return await this.#targets.foresee(letter)
    try {
      const outcome = await this.#broker.deadLetters.replay(letter, {
        ...(toTopic === undefined ? {} : { toTopic }),
        ...(maxReplays === undefined ? {} : { maxReplays }),
      })
      if (outcome.status === 'skipped') return unmoved(letter, 'skipped', outcome.reason)
      const { topic, queueId, queueOffset } = outcome
      return { msgId: letter.message.msgId, status: 'replayed', reason: null, topic, queueId, queueOffset }
    } catch (error) {
      if (!(error instanceof RmqError)) throw error
      const reason = error.why === undefined ? error.message : `${error.message} (${error.why})`
      return unmoved(letter, 'failed', reason)
    }
  }

  #report(result: ReplayResult): void {
    this.#seenIds.add(result.msgId)
    this.#counts[result.status === 'would-replay' ? 'replayed' : result.status]++
    this.#options.onResult?.(result)
  }

  /** The limit, or the signal. */
  async #stopped(matchedAtStart: number): Promise<ReplaySummary> {
    const { replayed, skipped, failed } = this.#counts
    const left = matchedAtStart - replayed - skipped - failed
    // Another replay may have taken some of ours meanwhile: what is stored now bounds what can remain.
    return this.#summary(Math.max(0, Math.min(left, await this.#count())))
  }

  #summary(remaining: number): ReplaySummary {
    const { replayed, skipped, failed } = this.#counts
    const interrupted = remaining > 0 && this.#options.signal?.aborted === true
    const truncated = remaining > 0 && !interrupted
    const matched = replayed + skipped + failed + remaining
    return { matched, replayed, skipped, failed, remaining, truncated, interrupted }
  }

  async #count(): Promise<number> {
    const counts = await this.#broker.deadLetters.count(this.#options.group, this.#filter)
    return counts.get(this.#options.group) ?? 0
  }
}
