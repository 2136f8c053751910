import { RmqError } from '../core/index.ts'

/** What an argument of the command line can say, and what it cannot. */

const DAMAGED = '\ufffd'

/**
 * An ordering or lookup key, where one is meant. An empty one is more likely a variable that was not set: as a filter
 * it would find nothing, or spare nothing. INVALID_ARGUMENT.
 */
export function assertKey(key: string, where: string): void {
  if (key === '') {
    throw new RmqError('INVALID_ARGUMENT', `${where} is empty`, {
      why: 'no message has an empty key; a variable may not be set',
      hint: 'leave it out, or give a key',
    })
  }
  refuseDamagedKey(key, where)
}

/**
 * Arguments that are not UTF-8 arrive as U+FFFD: two different keys would become one, and share a queue, an order
 * and a fate. What NDJSON says has no such doubt, so a key with U+FFFD is fine there. INVALID_ARGUMENT.
 */
export function refuseDamagedKey(key: string, where: string): void {
  refuse(
    key,
    where,
    'bytes that are no UTF-8 arrive as U+FFFD, so that different keys would become one',
    'give the key in UTF-8; one that does hold U+FFFD can be said in NDJSON: rmq send TOPIC --input ndjson',
  )
}

/** The same for other texts. INVALID_ARGUMENT. */
export function refuseDamaged(text: string, where: string): void {
  refuse(
    text,
    where,
    'it holds U+FFFD, which stands for bytes that no text can hold',
    where === 'BODY' ? 'send binary bodies through stdin: --file -' : 'use UTF-8, or --input ndjson',
  )
}

function refuse(text: string, where: string, why: string, hint: string): void {
  if (!text.includes(DAMAGED)) return
  throw new RmqError('INVALID_ARGUMENT', `${where} is not valid UTF-8`, { why, hint })
}
