import { isUtf8 } from 'node:buffer'
import { type MessageExt, RmqError } from '../core/index.ts'

/** What one place of a format prints of a message. `running` is its number, from 1. */
type Field = (message: MessageExt, running: number) => string | Uint8Array

/** A format, ready to be used: literal bytes and fields in their order. */
export type CompiledFormat = readonly (Buffer | Field)[]

const time =
  (of: (message: MessageExt) => number): Field =>
  (message) =>
    String(of(message))
const isoTime =
  (of: (message: MessageExt) => number): Field =>
  (message) =>
    new Date(of(message)).toISOString()

const stored = (message: MessageExt) => message.storeTimestamp
const born = (message: MessageExt) => message.bornTimestamp

/** kcat's letters where they exist. Absent keys and tags are nothing. */
const FIELDS: Readonly<Record<string, Field>> = {
  t: (message) => message.topic,
  p: (message) => String(message.queueId),
  o: (message) => String(message.queueOffset),
  k: (message) => message.key ?? '',
  K: (message) => message.keys.join(','),
  g: (message) => message.tags ?? '',
  s: (message) => message.body,
  S: (message) => String(message.body.length),
  T: time(stored),
  B: time(born),
  i: (message) => message.msgId,
  r: (message) => String(message.reconsumeTimes),
  h: (message) =>
    Object.entries(message.properties)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
  n: (_message, running) => String(running),
}

const MODIFIED: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  s: {
    json: (message) => JSON.stringify(bufferOf(message.body).toString('utf8')),
    hex: (message) => bufferOf(message.body).toString('hex'),
    base64: (message) => bufferOf(message.body).toString('base64'),
  },
  T: { iso: isoTime(stored) },
  B: { iso: isoTime(born) },
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0', '\\': '\\' }

/**
 * Reads a format: `%` and a letter for a field of the message, `\` for characters that are hard to type, all else
 * as it is. `%h{name}` is one property, `%s{json}`, `%s{hex}`, `%s{base64}` and `%T{iso}`, `%B{iso}` write a field
 * in another way; other letters take no braces. INVALID_ARGUMENT says what is wrong, and where.
 */
export function compileFormat(text: string): CompiledFormat {
  const parts: (Buffer | Field)[] = []
  let literal = ''
  let at = 0
  const flush = () => {
    if (literal !== '') parts.push(Buffer.from(literal, 'utf8'))
    literal = ''
  }
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '\\') {
      const character = readEscape(text, at)
      if (typeof character.value === 'string') literal += character.value
      else {
        flush()
        parts.push(character.value)
      }
      at = character.end
    } else if (char === '%' && text.charAt(at + 1) !== '%') {
      flush()
      const { field, end } = readField(text, at)
      parts.push(field)
      at = end
    } else {
      literal += char
      at += char === '%' ? 2 : 1
    }
  }
  flush()
  return parts
}

/** `\xNN` is one byte, whatever the encoding of the text around it. */
function readEscape(text: string, at: number): { readonly value: string | Buffer; readonly end: number } {
  const letter = text.charAt(at + 1)
  const value = ESCAPES[letter]
  if (value !== undefined) return { value, end: at + 2 }
  const hex = /^x([0-9a-fA-F]{2})/.exec(text.slice(at + 1, at + 4))?.[1]
  if (hex !== undefined) return { value: Buffer.from(hex, 'hex'), end: at + 4 }
  throw malformed(text, at, `\\${letter} is no escape`, 'escapes are \\n \\r \\t \\0 \\\\ and \\xNN')
}

function readField(text: string, at: number): { readonly field: Field; readonly end: number } {
  const letter = text.charAt(at + 1)
  const plain = FIELDS[letter]
  if (plain === undefined) {
    const what = letter === '' ? 'it ends after %' : `%${letter} is no field`
    throw malformed(
      text,
      at,
      what,
      `fields are ${Object.keys(FIELDS)
        .map((one) => `%${one}`)
        .join(' ')}, and %% is a %`,
    )
  }
  const takesBraces = letter === 'h' || MODIFIED[letter] !== undefined
  if (!takesBraces || text.charAt(at + 2) !== '{') return { field: plain, end: at + 2 }
  const close = text.indexOf('}', at + 3)
  if (close === -1)
    throw malformed(text, at + 2, 'its { is not closed', 'write \\x7b for a brace of your own')
  const name = text.slice(at + 3, close)
  return { field: bracedField(text, at, letter, name), end: close + 1 }
}

function bracedField(text: string, at: number, letter: string, name: string): Field {
  if (letter === 'h')
    return (message) => (Object.hasOwn(message.properties, name) ? (message.properties[name] ?? '') : '')
  const modifiers = MODIFIED[letter] ?? {}
  const field = Object.hasOwn(modifiers, name) ? modifiers[name] : undefined
  if (field !== undefined) return field
  const known = Object.keys(modifiers).map((one) => `%${letter}{${one}}`)
  throw malformed(text, at + 2, `{${name}} does not go with %${letter}`, `it takes ${known.join(', ')}`)
}

function malformed(text: string, at: number, what: string, hint: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', `format ${JSON.stringify(text)} is malformed: ${what}`, {
    why: `at character ${at + 1}`,
    hint,
    details: { format: text, position: at + 1 },
  })
}

/** The bytes of a message. `show` turns a field's value into what may be written, on a terminal without controls. */
export function applyFormat(
  format: CompiledFormat,
  message: MessageExt,
  running: number,
  show: (value: string | Uint8Array) => Uint8Array | string,
): Buffer {
  const parts = format.map((part) => {
    const value = typeof part === 'function' ? show(part(message, running)) : part
    return typeof value === 'string' ? Buffer.from(value, 'utf8') : value
  })
  return Buffer.concat(parts)
}

/** The same bytes, seen as a Buffer. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Text for people of bytes that may be none: what is not UTF-8 becomes `\xNN`, byte by byte. */
export function textOf(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes)
  if (isUtf8(buffer)) return buffer.toString('utf8')
  return buffer
    .toString('latin1')
    .replace(/[\u0080-\u00ff]/g, (char) => `\\x${char.charCodeAt(0).toString(16)}`)
}
