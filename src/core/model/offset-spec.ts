import { RmqError } from './errors.ts'
import { tryParseTime } from './time.ts'
import type { QueueStats } from './topic.ts'

/** A place in a queue, as people name it. */
export type OffsetSpec =
  | { readonly kind: 'earliest' }
  | { readonly kind: 'latest' }
  | { readonly kind: 'committed' }
  | { readonly kind: 'offset'; readonly offset: number }
  /** `+10`: ten messages behind the earliest. */
  | { readonly kind: 'after-earliest'; readonly count: number }
  /** `-10`: the last ten messages. */
  | { readonly kind: 'before-latest'; readonly count: number }
  /** `@TIME`: the first message stored at or after it. */
  | { readonly kind: 'time'; readonly timestamp: number }

/** From `from` up to, without, `to`; without `to`, one place and what follows it. */
export interface OffsetRange {
  readonly from: OffsetSpec
  readonly to: OffsetSpec | null
}

/**
 * Reads one place: `earliest`, `latest`, `committed`, `120`, `+10`, `-10` or `@TIME` (see `parseTime`).
 *
 * @throws RmqError INVALID_ARGUMENT
 */
export function parseOffsetSpec(text: string, now: number): OffsetSpec {
  const spec = tryParse(text, now)
  if (spec) return spec
  throw notAnOffset(text)
}

/**
 * Reads a place or a half-open range `A:B`; an empty side is `earliest` or `latest`.
 * Times contain colons themselves, so the range is the split of which both sides can be read.
 *
 * @throws RmqError INVALID_ARGUMENT
 */
export function parseOffsetRange(text: string, now: number): OffsetRange {
  const single = tryParse(text, now)
  if (single) return { from: single, to: null }
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    const from = tryParse(text.slice(0, colon) || 'earliest', now)
    const to = tryParse(text.slice(colon + 1) || 'latest', now)
    if (from && to) return { from, to }
  }
  throw notAnOffset(text)
}

/** What a place depends on in one queue. */
export interface OffsetContext {
  readonly stats: QueueStats
  /** The group's next offset to consume; `null` when it never started there, absent where no group is meant. */
  readonly committed?: number | null
  /** First offset stored at or after the time, else the max offset. */
  readonly searchOffset: (timestamp: number) => Promise<number>
}

/**
 * The offset that a place means in one queue. Counts are clamped to what is stored; an explicit offset is
 * returned as it is, so that the caller can refuse one that lies outside. A group that never started is at the
 * earliest message, where it would begin.
 *
 * @throws RmqError INVALID_ARGUMENT for `committed` where no group is meant
 */
export async function resolveOffset(spec: OffsetSpec, context: OffsetContext): Promise<number> {
  const { minOffset, maxOffset } = context.stats
  switch (spec.kind) {
    case 'earliest':
      return minOffset
    case 'latest':
      return maxOffset
    case 'committed':
      if (context.committed !== undefined) return context.committed ?? minOffset
      throw new RmqError(
        'INVALID_ARGUMENT',
        'committed is an offset of a group, and no group is named here',
        {
          hint: 'use earliest, latest, a number, +N, -N or @TIME',
        },
      )
    case 'offset':
      return spec.offset
    case 'after-earliest':
      return Math.min(minOffset + spec.count, maxOffset)
    case 'before-latest':
      return Math.max(maxOffset - spec.count, minOffset)
    case 'time':
      return context.searchOffset(spec.timestamp)
  }
}

function tryParse(text: string, now: number): OffsetSpec | undefined {
  if (text === 'earliest' || text === 'latest' || text === 'committed') return { kind: text }
  if (text.startsWith('@')) {
    const timestamp = tryParseTime(text.slice(1), now)
    return timestamp === undefined ? undefined : { kind: 'time', timestamp }
  }
  const [, sign, digits] = /^([+-]?)(\d{1,16})$/.exec(text) ?? []
  const count = Number(digits)
  if (digits === undefined || !Number.isSafeInteger(count)) return undefined
  if (sign === '+') return { kind: 'after-earliest', count }
  return sign === '-' ? { kind: 'before-latest', count } : { kind: 'offset', offset: count }
}

function notAnOffset(text: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not an offset`, {
    why: 'an offset is earliest, latest, committed, 120, +10 (after earliest), -10 (before latest), @TIME, or a range A:B',
    hint: 'for example -10, @-15m or 100:120',
  })
}
