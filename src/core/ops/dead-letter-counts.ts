import type { Broker } from '../broker.ts'
import type { DeadLetter, DeadLetterFilter } from '../model/dead-letter.ts'

/** Read at a time: bounds memory, a body may have 4 MiB. */
const PAGE_SIZE = 100

export const DEAD_LETTER_TRAITS = ['topic', 'error', 'key'] as const
/** What dead letters are counted by. */
export type DeadLetterTrait = (typeof DEAD_LETTER_TRAITS)[number]

/** Dead letters that have one trait in common. */
export interface DeadLetterCount {
  readonly group: string
  /** The topic, the error or the key; `null`: it has none. */
  readonly value: string | null
  readonly count: number
  /** How many of them only followed a dead one of their key. */
  readonly parked: number
  readonly firstDeadLetteredAt: number
  readonly lastDeadLetteredAt: number
  /** The first of them, in the order of their queues and offsets. */
  readonly exampleMsgId: string
}

const TRAIT_OF: Readonly<Record<DeadLetterTrait, (letter: DeadLetter) => string | null>> = {
  topic: ({ message }) => message.topic,
  error: ({ lastError }) => lastError,
  key: ({ message }) => message.key,
}

/** Counts the dead letters of a group by a trait: the largest count first. */
export async function countDeadLetters(
  broker: Broker,
  group: string,
  filter: DeadLetterFilter,
  trait: DeadLetterTrait,
): Promise<readonly DeadLetterCount[]> {
  const counts = new Map<string | null, DeadLetterCount>()
  let after: string | undefined
  do {
    const page = await broker.deadLetters.list(group, filter, {
      limit: PAGE_SIZE,
      ...(after === undefined ? {} : { after }),
    })
    for (const letter of page.deadLetters) {
      const value = TRAIT_OF[trait](letter)
      counts.set(value, added(counts.get(value), letter, value))
    }
    after = page.next ?? undefined
  } while (after !== undefined)
  return [...counts.values()].sort((a, b) => b.count - a.count)
}

function added(
  before: DeadLetterCount | undefined,
  { group, message, state, deadLetteredAt }: DeadLetter,
  value: string | null,
): DeadLetterCount {
  const parked = Number(state === 'parked')
  if (before === undefined) {
    const times = { firstDeadLetteredAt: deadLetteredAt, lastDeadLetteredAt: deadLetteredAt }
    return { group, value, count: 1, parked, ...times, exampleMsgId: message.msgId }
  }
  return {
    ...before,
    count: before.count + 1,
    parked: before.parked + parked,
    firstDeadLetteredAt: Math.min(before.firstDeadLetteredAt, deadLetteredAt),
    lastDeadLetteredAt: Math.max(before.lastDeadLetteredAt, deadLetteredAt),
  }
}
