import { RmqError } from '../model/errors.ts'
import { PROPERTIES_BYTES_MAX } from '../model/limits.ts'
import type { Message } from '../model/message.ts'
import { isReservedPropertyName } from '../model/names.ts'

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

/** Checks the messages and lays them out. INVALID_MESSAGE or MESSAGE_TOO_LARGE name the one at fault by its index. */
export function layOut(messages: readonly Message[], topic: string, maxBody: number): MessageBatch {
  const isPlain = messages.every(isPlainMessage)
  const values: unknown[] = []
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as Message
    try {
      const body = bodyOf(message.body, topic, maxBody)
      const key = message.key === undefined ? null : checkKey(message.key)
      if (isPlain) values.push(0, 0, 0, key, body)
      else values.push(0, 0, 0, key, tagsOf(message), keysOf(message), propertiesOf(message), body)
      checkPropertiesSize(message)
    } catch (error) {
      throw messages.length === 1 ? error : atIndex(error, i)
    }
  }
  return { count: messages.length, isPlain, values }
}

function isPlainMessage(message: Message): boolean {
  return message.tags === undefined && message.keys === undefined && message.properties === undefined
}

function bodyOf(body: Uint8Array | string, topic: string, maxBody: number): Uint8Array {
  const bytes = typeof body === 'string' ? textBody(body) : body
  if (!(bytes instanceof Uint8Array))
    throw invalid('the body is neither bytes nor text', `it is ${typeof body}`)
  if (bytes.length <= maxBody) return bytes
  throw new RmqError('MESSAGE_TOO_LARGE', `the body has ${bytes.length} bytes, ${maxBody} are allowed`, {
    why: `topic ${topic} takes bodies up to ${maxBody} bytes`,
    hint: 'send a smaller body, or store it elsewhere and send where it is',
    details: { topic, bytes: bytes.length, maxBytes: maxBody },
  })
}

function textBody(body: string): Uint8Array {
  if (!(body as WellFormed).isWellFormed()) {
    throw invalid('the body is no valid text', 'it has half of a surrogate pair, which has no UTF-8')
  }
  return Buffer.from(body)
}

/** In ES2024's library; all Node versions of ours have it. */
type WellFormed = string & { isWellFormed(): boolean }

/** What no key, tag or property may hold: RocketMQ's separators 1 and 2, and halves of surrogate pairs. */
// biome-ignore lint/complexity/useRegexLiterals: a literal with control characters is refused by another rule
const FORBIDDEN = new RegExp('[\\u0001\\u0002\\ud800-\\udfff]', 'u')

function checkText(what: string, text: unknown): string {
  if (typeof text !== 'string') throw invalid(`${what} is no text`, `it is ${typeof text}`)
  if (!FORBIDDEN.test(text)) return text
  throw invalid(
    `${what} ${JSON.stringify(text)} holds a character that cannot be stored`,
    'RocketMQ separates properties with U+0001 and U+0002, and half of a surrogate pair has no UTF-8',
  )
}

function checkKey(key: string): string {
  checkText('key', key)
  if (key === '') throw invalid('the key is empty', 'a message without a key leaves it out')
  return key
}

function tagsOf({ tags }: Message): string | null {
  if (tags === undefined) return null
  checkText('tag', tags)
  if (tags.trim() === '') throw invalid('the tag is blank', 'a message without a tag leaves it out')
  return tags
}

/** JSON, or null when the ordering key is the only lookup key. */
function keysOf({ key, keys }: Message): string | null {
  if (keys === undefined || (keys.length === 0 && key === undefined)) return null
  for (const each of keys) {
    checkText('lookup key', each)
    if (each === '') throw invalid('a lookup key is empty', `keys are ${JSON.stringify(keys)}`)
  }
  return keys.length === 1 && keys[0] === key ? null : JSON.stringify(keys)
}

function propertiesOf({ properties }: Message): string | null {
  if (properties === undefined) return null
  let isEmpty = true
  for (const name of Object.keys(properties)) {
    isEmpty = false
    checkText('property name', name)
    checkText(`property ${name}`, properties[name])
    if (name.trim() === '') throw invalid('a property has a blank name', `its value is ${properties[name]}`)
    if (isReservedPropertyName(name)) {
      throw invalid(
        `property ${name} is reserved`,
        'RocketMQ keeps this name for itself',
        'choose another name',
      )
    }
  }
  return isEmpty ? null : JSON.stringify(properties)
}

/** Refuses what RocketMQ could not carry. Counted exactly only when it might be too much. */
function checkPropertiesSize(message: Message): void {
  const { key, tags, keys, properties } = message
  let characters = 2 * (key?.length ?? 0) + (tags?.length ?? 0) + FIXED_PROPERTIES_CHARACTERS
  if (keys !== undefined) for (const each of keys) characters += each.length + 1
  if (properties !== undefined) {
    for (const name of Object.keys(properties))
      characters += name.length + (properties[name]?.length ?? 0) + 2
  }
  // No character has more than 3 bytes for each of its UTF-16 units.
  if (characters * 3 <= PROPERTIES_BYTES_MAX) return
  const bytes = propertiesBytes(message)
  if (bytes <= PROPERTIES_BYTES_MAX) return
  throw invalid(
    `key, tag and properties together have ${bytes} bytes, ${PROPERTIES_BYTES_MAX} are allowed`,
    'RocketMQ counts the length of all properties in a signed short',
    'put large values into the body',
  )
}

/** Names and separators of `__SHARDINGKEY`, `KEYS` and `TAGS`. */
const FIXED_PROPERTIES_CHARACTERS = 32

/** In RocketMQ's encoding, `name 1 value 2`, where key, lookup keys and tag are properties like the user's. */
function propertiesBytes({ key, tags, keys, properties }: Message): number {
  const all = {
    __SHARDINGKEY: key ?? '',
    KEYS: (keys ?? [key ?? '']).join(' '),
    TAGS: tags ?? '',
    ...properties,
  }
  let bytes = 0
  for (const [name, value] of Object.entries(all)) {
    if (value !== '') bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 2
  }
  return bytes
}

function invalid(what: string, why: string, hint = 'correct the message and send it again'): RmqError {
  return new RmqError('INVALID_MESSAGE', what, { why, hint })
}

function atIndex(error: unknown, index: number): unknown {
  if (!(error instanceof RmqError)) return error
  return new RmqError(error.code, `message ${index + 1}: ${error.message}`, {
    ...(error.why === undefined ? {} : { why: error.why }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, index },
  })
}
