import type { Message } from '../model/message.ts'
import {
  bodyOf,
  checkKey,
  checkPropertiesSize,
  keysOf,
  propertiesOf,
  tagsOf,
} from '../model/message-check.ts'

/**
 * Messages of one group in the order of their columns, ready to be bound: 3 blanks for offset, store time and age,
 * then what `isPlain` says. No object per message: that costs as much as the insert itself.
 */
export interface MessageBatch {
  readonly count: number
  /** Only key and body are set: the statement binds 5 values a message and not 8. */
  readonly isPlain: boolean
  /** `count` times `valuesPerMessage`. */
  readonly values: unknown[]
}

const BLANKS_PER_MESSAGE = 3
export const valuesPerMessage = (isPlain: boolean) => BLANKS_PER_MESSAGE + (isPlain ? 2 : 5)

/** Checks the messages and lays them out. INVALID_MESSAGE or MESSAGE_TOO_LARGE. */
export function layOut(messages: readonly Message[], topic: string, maxBody: number): MessageBatch {
  const isPlain = messages.every(isPlainMessage)
  const values: unknown[] = []
  for (const message of messages) {
    const body = bodyOf(message.body, topic, maxBody)
    const key = message.key === undefined ? null : checkKey(message.key)
    if (isPlain) values.push(0, 0, 0, key, body)
    else values.push(0, 0, 0, key, tagsOf(message), keysOf(message), propertiesOf(message), body)
    checkPropertiesSize(message)
  }
  return { count: messages.length, isPlain, values }
}

/** The i-th message of a batch, by column. */
export function messageOf({ isPlain, values }: MessageBatch, i: number) {
  const at = i * valuesPerMessage(isPlain) + BLANKS_PER_MESSAGE
  const [key, ...rest] = values.slice(at, at + valuesPerMessage(isPlain) - BLANKS_PER_MESSAGE)
  const [tags, keys, properties, body] = isPlain ? [null, null, null, ...rest] : rest
  return {
    key: key as string | null,
    tags: tags as string | null,
    keys: keys as string | null,
    properties: properties as string | null,
    body: Buffer.from(body as Uint8Array),
  }
}

function isPlainMessage(message: Message): boolean {
  return message.tags === undefined && message.keys === undefined && message.properties === undefined
}
