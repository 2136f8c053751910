import { type Broker, type DeadLetter, type DeadLetterFilter, toRecord } from '../core/index.ts'
import { instant } from './cell.ts'
import { bufferOf, textOf } from './format-language.ts'
import { isoTime } from './records.ts'
import type { Column } from './table.ts'

/** Read at a time: bounds memory, a body may have 4 MiB. */
const PAGE_SIZE = 100

/** All that match, in the order of their queues and offsets. */
export async function* deadLettersOf(
  broker: Broker,
  group: string,
  filter: DeadLetterFilter,
  max = Number.POSITIVE_INFINITY,
): AsyncGenerator<DeadLetter> {
  let after: string | undefined
  let left = max
  do {
    const limit = Math.min(PAGE_SIZE, left)
    const page = await broker.deadLetters.list(group, filter, {
      limit,
      ...(after === undefined ? {} : { after }),
    })
    yield* page.deadLetters
    left -= page.deadLetters.length
    after = page.next ?? undefined
  } while (after !== undefined && left > 0)
}

/** The message, and how it died. */
export function deadLetterRecord(letter: DeadLetter) {
  const { message } = letter
  return {
    ...toRecord(message),
    group: letter.group,
    originTopic: message.topic,
    originQueueId: message.queueId,
    originQueueOffset: message.queueOffset,
    attempts: letter.attempts,
    lastError: letter.lastError,
    firstFailedAt: timeOrNull(letter.firstFailedAt),
    deadLetteredAt: isoTime(letter.deadLetteredAt),
    state: letter.state,
    replays: letter.replays,
    replayedAt: timeOrNull(letter.replayedAt),
    settledAt: timeOrNull(letter.settledAt),
    resetAt: timeOrNull(letter.resetAt),
  }
}

/** What a table needs of a dead letter: all but its body. */
export type DeadLetterRow = Omit<DeadLetter, 'message'> & {
  readonly message: Omit<DeadLetter['message'], 'body'>
}

export function deadLetterRow({ message: { body: _, ...message }, ...letter }: DeadLetter): DeadLetterRow {
  return { ...letter, message }
}

export const deadLetterColumns: readonly Column<DeadLetterRow>[] = [
  { header: 'MSG_ID', value: ({ message }) => message.msgId, whole: true },
  { header: 'TOPIC', value: ({ message }) => message.topic },
  { header: 'QUEUE', value: ({ message }) => message.queueId },
  { header: 'OFFSET', value: ({ message }) => message.queueOffset, onlyWide: true },
  { header: 'KEY', value: ({ message }) => message.key },
  { header: 'ATTEMPTS', value: (letter) => letter.attempts, onlyWide: true },
  { header: 'STATE', value: (letter) => letter.state },
  { header: 'REPLAYS', value: (letter) => letter.replays, onlyWide: true },
  { header: 'DEAD_LETTERED', value: (letter) => instant(letter.deadLetteredAt), onlyWide: true },
  { header: 'ERROR', value: (letter) => letter.lastError, style: () => 'red' },
]

/** All of one, for a person. */
export function deadLetterFacts(letter: DeadLetter) {
  const { message } = letter
  return [
    ['message', message.msgId],
    ['group', letter.group],
    ['from', `${message.topic} queue ${message.queueId} offset ${message.queueOffset}`],
    ['key', message.key],
    ['keys', message.keys.join(', ')],
    ['tag', message.tags],
    ['properties', JSON.stringify(message.properties)],
    ['born', instant(message.bornTimestamp)],
    ['stored', instant(message.storeTimestamp)],
    ['attempts', letter.attempts],
    ['first failed', instant(letter.firstFailedAt)],
    ['dead-lettered', instant(letter.deadLetteredAt)],
    ['error', letter.lastError],
    ['state', letter.state],
    ['replays', letter.replays],
    ['replayed', instant(letter.replayedAt)],
    ['settled', instant(letter.settledAt)],
    ['round came again', instant(letter.resetAt)],
    ['body size', message.body.length],
    ['body', textOf(bufferOf(message.body))],
  ] as const
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at)
}
