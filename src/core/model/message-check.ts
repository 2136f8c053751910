import { checkDelay } from './delay.ts'
import { RmqError } from './errors.ts'
import { PROPERTIES_BYTES_MAX } from './limits.ts'
import type { Message } from './message.ts'
import { isReservedPropertyName } from './properties.ts'

/**
 * The rules of a message, by hand because every send goes through them (`schemas.ts` says the same with zod).
 * Each part comes out in the form in which it is stored.
 */

/** Refuses what no broker may store. INVALID_MESSAGE, MESSAGE_TOO_LARGE. */
export function checkMessage(message: Message, maxBody: number): void {
  bodyOf(message.body, message.topic, maxBody)
  if (message.key !== undefined) checkKey(message.key)
  tagsOf(message)
  keysOf(message)
  propertiesOf(message)
  checkPropertiesSize(message)
  checkDelay(message)
}

/** The body as bytes. MESSAGE_TOO_LARGE when there are more than `maxBody`. */
export function bodyOf(body: Uint8Array | string, topic: string, maxBody: number): Uint8Array {
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
  if (!body.isWellFormed()) {
    throw invalid('the body is no valid text', 'it has half of a surrogate pair, which has no UTF-8')
  }
  return Buffer.from(body)
}

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

export function checkKey(key: string): string {
  checkText('key', key)
  if (key === '') throw invalid('the key is empty', 'a message without a key leaves it out')
  return key
}

export function tagsOf({ tags }: Message): string | null {
  if (tags === undefined) return null
  checkText('tag', tags)
  if (tags.trim() === '') throw invalid('the tag is blank', 'a message without a tag leaves it out')
  return tags
}

/** JSON, or null when the ordering key is the only lookup key. */
export function keysOf({ key, keys }: Message): string | null {
  if (keys === undefined || (keys.length === 0 && key === undefined)) return null
  for (const each of keys) {
    checkText('lookup key', each)
    if (each === '') throw invalid('a lookup key is empty', `keys are ${JSON.stringify(keys)}`)
  }
  return keys.length === 1 && keys[0] === key ? null : JSON.stringify(keys)
}

export function propertiesOf({ properties }: Message): string | null {
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
export function checkPropertiesSize(message: Message): void {
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
