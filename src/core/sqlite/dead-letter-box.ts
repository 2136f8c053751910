import type { DeadLetterStore, DeadMessage, Fence } from '../broker.ts'
import type { DeadLetter, DeadLetterFilter } from '../model/dead-letter.ts'
import { RmqError } from '../model/errors.ts'
import type { MessageExt } from '../model/message.ts'
import { type CommittedOffsets, groupNotFound } from './committed-offsets.ts'
import { keptError } from './last-error.ts'
import { originalOf } from './original.ts'
import type { FencePlace, Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { Changes } from './tables/changes.ts'
import { type DeadLetterGlance, type DeadLetterPlace, DeadLetterQuery } from './tables/dead-letter-query.ts'
import type { DeadLetterRow, DeadLetters, Death } from './tables/dead-letters.ts'
import type { Groups } from './tables/groups.ts'
import type { Messages } from './tables/messages.ts'
import type { ParkedKeyTable } from './tables/parked-keys.ts'

/** Rows looked at in one go where a regular expression decides. */
const GLANCES_MAX = 1000

export interface DeadLetterParts {
  readonly places: Places
  readonly groups: Groups
  readonly attempts: Attempts
  readonly deadLetters: DeadLetters
  readonly messages: Messages
  readonly parkedKeys: ParkedKeyTable
  readonly changes: Changes
  readonly offsets: CommittedOffsets
}

/** How dead letters come in, and how they are looked at. */
export class DeadLetterBox implements Pick<DeadLetterStore, 'list' | 'count'> {
  readonly #store: Store
  readonly #parts: DeadLetterParts

  constructor(store: Store, parts: DeadLetterParts) {
    this.#store = store
    this.#parts = parts
  }

  /** All of it in one transaction: a message is never in both places, nor in none. */
  async add(
    fence: Fence,
    letters: readonly DeadMessage[],
    commitTo: number | null,
    options: { readonly parkKeys?: boolean } = {},
  ): Promise<boolean> {
    return await this.#store.write(() => {
      const place = this.#parts.places.held(fence)
      if (place === undefined) return false
      this.bury(place, letters, 'dead', commitTo)
      if (options.parkKeys) this.#parkKeys(place, letters)
      return true
    })
  }

  /** Puts messages among the dead letters and marks them as done with. The fence was checked. Inside a write job. */
  bury(
    place: FencePlace,
    letters: readonly DeadMessage[],
    state: Death['state'],
    commitTo: number | null,
  ): void {
    const now = Math.floor(this.#store.host.runtime.now())
    for (const letter of letters) this.#bury(place, letter, state, now)
    const live = letters.flatMap(({ message }) => (message.redelivery ? [] : [message.queueOffset]))
    if (commitTo === null || live.length === 0) this.#parts.offsets.pass(place, live, now)
    else this.#parts.offsets.advance(place, { offset: commitTo, ahead: [] }, now)
  }

  #parkKeys(place: FencePlace, letters: readonly DeadMessage[]): void {
    const { parkedKeys, deadLetters, attempts, changes } = this.#parts
    const { groupId, queueRow } = place
    const now = Math.floor(this.#store.host.runtime.now())
    for (const { message } of letters) {
      const { key, queueOffset } = message
      if (key === null) continue
      parkedKeys.add(groupId, queueRow, key)
      // Those that were replayed with it, and would come next.
      for (const { offset, replays } of deadLetters.parkBehind(groupId, queueRow, key, queueOffset, now)) {
        attempts.drop(groupId, queueRow, offset, replays)
      }
    }
    // The key may belong to another queue by now, whose owner has to hear of it.
    changes.bump('redelivery')
  }

  async list(
    group: string,
    filter: DeadLetterFilter,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly deadLetters: readonly DeadLetter[]; readonly next: string | null }> {
    const query = new DeadLetterQuery(this.#store.db, this.#groupId(group), filter)
    const matches = errorMatcher(filter.errorMatch)
    const found: DeadLetterGlance[] = []
    let after = page.after === undefined ? undefined : parseCursor(page.after)
    // One more than asked for says whether there is a next page.
    while (found.length <= page.limit) {
      const size = filter.errorMatch === undefined ? page.limit + 1 : GLANCES_MAX
      const glances = query.page(after, size)
      found.push(...glances.filter(matches))
      const last = glances.at(-1)
      if (last === undefined || glances.length < size) break
      after = placeOf(last)
    }
    const shown = found.slice(0, page.limit)
    const last = shown.at(-1)
    return {
      deadLetters: shown.flatMap(({ id }) => {
        const row = this.#parts.deadLetters.byId(id)
        return row === undefined ? [] : [this.#toDeadLetter(row, group)]
      }),
      next: found.length > shown.length && last !== undefined ? formatCursor(placeOf(last)) : null,
    }
  }

  async count(group: string | undefined, filter: DeadLetterFilter): Promise<ReadonlyMap<string, number>> {
    const groupId = group === undefined ? undefined : this.#groupId(group)
    const query = new DeadLetterQuery(this.#store.db, groupId, filter)
    const counts = filter.errorMatch === undefined ? query.count() : countMatches(query, filter.errorMatch)
    const groups = this.#parts.groups.all().filter(({ id }) => id === groupId || counts.has(id))
    return new Map(groups.map(({ id, name }) => [name, counts.get(id) ?? 0]))
  }

  /** The original as a consumer gets it, with the column's id: a moved message's own place says another. */
  toMessageExt(row: DeadLetterRow, reconsumeTimes: number): MessageExt {
    const { offset, stored, born, key, tags, keys, properties, body, topic, queueId, queueRow } = row
    const raw = [offset, stored, stored - born, key, tags, keys, properties, body] as const
    const message = this.#parts.messages.toMessageExt([...raw], topic, queueId, queueRow, reconsumeTimes)
    return { ...message, msgId: row.msgId }
  }

  #bury(
    place: FencePlace,
    { message, attempts, lastError }: DeadMessage,
    state: Death['state'],
    now: number,
  ): void {
    const { groupId, queueRow } = place
    const { queueOffset: offset, redelivery } = message
    const replay = redelivery?.replay ?? 0
    const known = this.#parts.attempts.at(groupId, queueRow, offset, replay)
    const death = { attempts, lastError: keptError(lastError), now, state }
    if (redelivery !== undefined) {
      const firstFailedAt = known?.firstFailedAt ?? now
      this.#parts.deadLetters.dieAgain(redelivery.deadLetterId, groupId, { ...death, firstFailedAt })
    } else {
      const original = originalOf(this.#parts.messages, queueRow, message)
      const firstFailedAt = original.firstFailedAt ?? known?.firstFailedAt ?? now
      this.#parts.deadLetters.put({ groupId, ...original, ...death, firstFailedAt })
    }
    this.#parts.attempts.drop(groupId, queueRow, offset, replay)
  }

  #toDeadLetter(row: DeadLetterRow, group: string): DeadLetter {
    const { id, attempts, lastError, state, replays } = row
    // The last run was a delivery; what was tried before it is one less.
    const message = this.toMessageExt(row, Math.max(0, attempts - 1))
    const { firstFailedAt, deadLetteredAt, replayedAt, settledAt, resetAt } = row
    const times = { firstFailedAt, deadLetteredAt, replayedAt, settledAt, resetAt }
    return { id, group, message, attempts, lastError, state, replays, ...times }
  }

  #groupId(group: string): number {
    const row = this.#parts.groups.byName(group)
    if (row === undefined) throw groupNotFound(group)
    return row.id
  }
}

function countMatches(query: DeadLetterQuery, errorMatch: string): Map<number, number> {
  const matches = errorMatcher(errorMatch)
  const counts = new Map<number, number>()
  for (const glance of query.each()) {
    if (matches(glance)) counts.set(glance.groupId, (counts.get(glance.groupId) ?? 0) + 1)
  }
  return counts
}

function errorMatcher(errorMatch: string | undefined): (glance: DeadLetterGlance) => boolean {
  if (errorMatch === undefined) return () => true
  let expression: RegExp
  try {
    expression = new RegExp(errorMatch, 'u')
  } catch (cause) {
    throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(errorMatch)} is no regular expression`, {
      why: cause instanceof Error ? cause.message : String(cause),
      hint: 'escape characters such as ( [ * + ? with a backslash',
      cause,
    })
  }
  return ({ lastError }) => lastError !== null && expression.test(lastError)
}

function placeOf({ topic, queueId, offset, id }: DeadLetterGlance): DeadLetterPlace {
  return [topic, queueId, offset, id]
}

function formatCursor(place: DeadLetterPlace): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

function parseCursor(cursor: string): DeadLetterPlace {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Array.isArray(place) && place.length === 4 && typeof place[0] === 'string') {
      if (place.slice(1).every(Number.isSafeInteger)) return place as unknown as DeadLetterPlace
    }
  } catch {
    // Falls through: it is none of ours.
  }
  throw new RmqError('INVALID_ARGUMENT', 'the page cursor is not one that a list of dead letters gave', {
    hint: 'start without a cursor',
  })
}
