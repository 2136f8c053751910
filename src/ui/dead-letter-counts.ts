import type { Broker, DeadLetter, DeadLetterFilter } from '../core/index.ts'
import { instant } from './cell.ts'
import { deadLettersOf } from './dead-letters.ts'
import { isoTime } from './records.ts'
import type { Column } from './table.ts'

/** What dead letters are counted by. */
export const DEAD_LETTER_TRAITS = ['topic', 'error', 'key'] as const
export type DeadLetterTrait = (typeof DEAD_LETTER_TRAITS)[number]

/** Dead letters of a group that have one topic, error or key. */
export interface DeadLetterCount {
  readonly group: string
  /** `null`: they have no key, or no error. */
  readonly value: string | null
  readonly count: number
  /** When the first and the last of them were dead-lettered. */
  readonly since: number
  readonly last: number
  /** Message id of the first one: of those of a key the one that the others follow. */
  readonly example: string
}

/** The largest first. Errors are one when they are the same to the letter. */
export async function countDeadLetters(
  broker: Broker,
  groups: readonly string[],
  filter: DeadLetterFilter,
  trait: DeadLetterTrait,
): Promise<readonly DeadLetterCount[]> {
  const counts: DeadLetterCount[] = []
  for (const group of groups) {
    const byValue = new Map<string | null, DeadLetterCount>()
    for await (const letter of deadLettersOf(broker, group, filter)) {
      const value = traitOf(letter, trait)
      byValue.set(value, withOneMore(byValue.get(value), letter, value))
    }
    counts.push(...byValue.values())
  }
  return counts.sort((a, b) => b.count - a.count)
}

export function deadLetterCountRecord(
  { group, value, count, since, last, example }: DeadLetterCount,
  trait: DeadLetterTrait,
) {
  return { group, [trait]: value, count, since: isoTime(since), last: isoTime(last), example }
}

export function deadLetterCountColumns(trait: DeadLetterTrait): readonly Column<DeadLetterCount>[] {
  return [
    { header: 'COUNT', value: ({ count }) => count },
    {
      header: trait.toUpperCase(),
      value: ({ value }) => value,
      style: () => (trait === 'error' ? 'red' : undefined),
    },
    { header: 'GROUP', value: ({ group }) => group },
    { header: 'SINCE', value: ({ since }) => instant(since), onlyWide: true },
    { header: 'LAST', value: ({ last }) => instant(last), onlyWide: true },
    { header: 'EXAMPLE', value: ({ example }) => example, whole: true },
  ]
}

function traitOf({ message, lastError }: DeadLetter, trait: DeadLetterTrait): string | null {
  if (trait === 'error') return lastError
  return trait === 'topic' ? message.topic : message.key
}

function withOneMore(
  known: DeadLetterCount | undefined,
  { group, message, deadLetteredAt }: DeadLetter,
  value: string | null,
): DeadLetterCount {
  if (known === undefined) {
    return {
      group,
      value,
      count: 1,
      since: deadLetteredAt,
      last: deadLetteredAt,
      example: message.msgId,
    }
  }
  return {
    ...known,
    count: known.count + 1,
    since: Math.min(known.since, deadLetteredAt),
    last: Math.max(known.last, deadLetteredAt),
    example: deadLetteredAt < known.since ? message.msgId : known.example,
  }
}
