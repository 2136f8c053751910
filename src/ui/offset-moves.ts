import { custom } from '@oclif/core/flags'
import {
  type OffsetRange,
  type OffsetReset,
  type OffsetSpec,
  parseOffsetRange,
  RmqError,
} from '../core/index.ts'
import { formatCount, formatPlural } from './quantities.ts'
import type { Column } from './table.ts'

/** One place, in every form that an offset has. */
export const placeFlag = custom<OffsetSpec>({
  parse: async (text) => parsePlace(text, Date.now()),
  helpValue: 'OFFSET',
})

const PLACES = 'earliest, latest, committed, 120, +10 (after earliest), -10 (before latest) or @TIME'

/** Reads one place; a range, which other commands take, is refused. INVALID_ARGUMENT. */
export function parsePlace(text: string, now: number): OffsetSpec {
  let range: OffsetRange
  try {
    range = parseOffsetRange(text, now)
  } catch (cause) {
    throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not an offset`, {
      why: `an offset is ${PLACES}`,
      hint: 'for example -10 or @-15m',
      cause,
    })
  }
  if (range.to === null) return range.from
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is a range: a group is at one place`, {
    hint: `say where it shall go on: ${PLACES}`,
  })
}

export const offsetResetColumns: readonly Column<OffsetReset>[] = [
  { header: 'TOPIC', value: ({ mq }) => mq.topic },
  { header: 'QUEUE', value: ({ mq }) => mq.queueId },
  { header: 'OLD', value: ({ from }) => from },
  { header: 'NEW', value: ({ to }) => to },
  { header: 'REPLAYED', value: ({ replayed }) => replayed, style: (one) => warnIf(one.replayed > 0) },
  { header: 'SKIPPED', value: ({ skipped }) => skipped, style: (one) => warnIf(one.skipped > 0) },
]

export function offsetResetRecord({ mq, from, to, replayed, skipped }: OffsetReset) {
  return { topic: mq.topic, queueId: mq.queueId, old: from, new: to, replayed, skipped }
}

/** `8 offsets of group mailer (120 messages again, 3 skipped)`. */
export function offsetResetText(group: string, resets: readonly OffsetReset[]): string {
  const sum = (count: (one: OffsetReset) => number) => resets.reduce((total, one) => total + count(one), 0)
  const again = formatPlural(
    sum(({ replayed }) => replayed),
    'message',
  )
  const skipped = formatCount(sum((one) => one.skipped))
  return `${formatPlural(resets.length, 'offset')} of group ${group} (${again} again, ${skipped} skipped)`
}

function warnIf(condition: boolean): 'yellow' | undefined {
  return condition ? 'yellow' : undefined
}
