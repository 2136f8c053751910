import { isUtf8 } from 'node:buffer'
import { checkDelay } from './delay.ts'
import { parseDuration } from './duration.ts'
import { RmqError } from './errors.ts'
import type { Message } from './message.ts'
import { parseTime } from './time.ts'

/** A message read from a line. Its topic is optional: a command may name one for all. */
export type InputMessage = Omit<Message, 'topic'> & { readonly topic?: string }

const LONE_SURROGATE = /\p{Surrogate}/u
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/**
 * Reads one line of NDJSON input (without its newline; a final CR is allowed).
 *
 * An object with `body` or `bodyBase64` is a message: `topic`, `key`, `keys`, `tags` (or `tag`), `properties` and one
 * of `delay`, `delayLevel` and `deliverAt` are taken, `null` counts as absent, and fields that a broker gives are ignored, so that printed records can be sent.
 * A `body` that is no string is kept as the JSON text it was written as. Any other JSON value is itself a body, with
 * none of its fields looked at: a user's own `key` or `topic` must not steer anything.
 *
 * `now` is the wall clock in milliseconds since the epoch, for a `deliverAt` that is relative to it.
 * INVALID_INPUT_LINE when the line is no JSON, no UTF-8, or a field has the wrong type; the message names the line.
 */
export function parseRecordLine(line: Buffer | string, lineNumber: number, now: number): InputMessage {
  const text = textOf(line, lineNumber)
  const value = parseJson(text, lineNumber)
  if (!isObject(value)) return { body: text }
  const hasBody = Object.hasOwn(value, 'body')
  const hasBase64 = Object.hasOwn(value, 'bodyBase64')
  if (!hasBody && !hasBase64) return { body: text }
  if (hasBody && hasBase64) throw badLine(lineNumber, 'it has both body and bodyBase64', 'keep one of them')
  const topic = optionalString(value, 'topic', lineNumber)
  const key = optionalString(value, 'key', lineNumber)
  const tags = optionalString(value, 'tags', lineNumber) ?? optionalString(value, 'tag', lineNumber)
  const keys = optionalKeys(value, lineNumber)
  const properties = optionalProperties(value, lineNumber)
  return {
    body: hasBody ? bodyOf(value.body, text, lineNumber) : bytesOf(value.bodyBase64, lineNumber),
    ...(topic === undefined ? undefined : { topic }),
    ...(key === undefined ? undefined : { key }),
    ...(keys === undefined ? undefined : { keys }),
    ...(tags === undefined ? undefined : { tags }),
    ...(properties === undefined ? undefined : { properties }),
    ...optionalDelay(value, lineNumber, now),
  }
}

function textOf(line: Buffer | string, lineNumber: number): string {
  if (typeof line !== 'string' && !isUtf8(line)) {
    throw badLine(lineNumber, 'it is not valid UTF-8', 'put binary bodies into bodyBase64')
  }
  const text = typeof line === 'string' ? line : line.toString('utf8')
  const start = lineNumber === 1 && text.charCodeAt(0) === 0xfeff ? 1 : 0
  const end = text.endsWith('\r') ? text.length - 1 : text.length
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

function parseJson(text: string, lineNumber: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    throw badLine(lineNumber, `it is not JSON: ${cause}`, 'for plain text, one message a line: --input lines')
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function bodyOf(body: unknown, text: string, lineNumber: number): string {
  if (typeof body !== 'string') return rawMember(text, 'body')
  if (text.includes('\\u') && LONE_SURROGATE.test(body)) {
    throw badLine(lineNumber, 'its body has half of a surrogate pair, which no UTF-8 text can hold')
  }
  return body
}

function bytesOf(base64: unknown, lineNumber: number): Buffer {
  if (typeof base64 !== 'string' || !BASE64.test(base64)) {
    throw badLine(lineNumber, 'its bodyBase64 is not base64')
  }
  return Buffer.from(base64, 'base64')
}

function optionalString(record: Record<string, unknown>, field: string, lineNumber: number) {
  const value = record[field] ?? undefined
  if (value === undefined || typeof value === 'string') return value
  throw badLine(lineNumber, `its ${field} is ${kindOf(value)}, not a string`)
}

function optionalKeys(record: Record<string, unknown>, lineNumber: number): readonly string[] | undefined {
  const keys = record.keys ?? undefined
  if (keys === undefined) return undefined
  if (Array.isArray(keys) && keys.every((key) => typeof key === 'string')) return keys
  throw badLine(lineNumber, 'its keys are not an array of strings')
}

function optionalProperties(record: Record<string, unknown>, lineNumber: number) {
  const properties = record.properties ?? undefined
  if (properties === undefined) return undefined
  if (!isObject(properties)) throw badLine(lineNumber, 'its properties are not an object')
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value !== 'string') {
      throw badLine(lineNumber, `its property ${JSON.stringify(name)} is ${kindOf(value)}, not a string`)
    }
  }
  return properties as Record<string, string>
}

type MessageDelay = Pick<Message, 'delayLevel' | 'delayMs' | 'deliverAt'>

/** What the line says of when the message comes. */
function optionalDelay(record: Record<string, unknown>, lineNumber: number, now: number): MessageDelay {
  const { delay = null, delayLevel = null, deliverAt = null } = record
  if (delay === null && delayLevel === null && deliverAt === null) return {}
  try {
    const said = {
      ...(delay !== null && { delayMs: parseDuration(textField('delay', delay)) }),
      ...(delayLevel !== null && { delayLevel: numberField('delayLevel', delayLevel) }),
      ...(deliverAt !== null && { deliverAt: parseTime(timeField(deliverAt), now) }),
    }
    checkDelay(said)
    return said
  } catch (error) {
    if (!(error instanceof RmqError)) throw error
    const reason = error.why === undefined ? error.message : `${error.message} (${error.why})`
    throw badLine(lineNumber, reason, error.hint)
  }
}

function textField(field: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new RmqError('INVALID_ARGUMENT', `its ${field} is ${kindOf(value)}, not a string`, {
    hint: 'for example "10s"',
  })
}

function numberField(field: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw new RmqError('INVALID_ARGUMENT', `its ${field} is ${kindOf(value)}, not a number`)
}

/** Epoch seconds or milliseconds may be a number of JSON as well. */
function timeField(value: unknown): string {
  return typeof value === 'number' ? String(value) : textField('deliverAt', value)
}

/** The text of a member of a JSON object that is known to be valid; of the last one, as JSON.parse takes it. */
function rawMember(json: string, name: string): string {
  let raw = ''
  let at = json.indexOf('{') + 1
  for (;;) {
    const keyStart = skipSpace(json, at)
    if (json[keyStart] === '}') return raw
    const keyEnd = endOfValue(json, keyStart)
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1)
    const end = endOfValue(json, start)
    if (JSON.parse(json.slice(keyStart, keyEnd)) === name) raw = json.slice(start, end)
    const next = skipSpace(json, end)
    if (json[next] !== ',') return raw
    at = next + 1
  }
}

function skipSpace(json: string, at: number): number {
  let i = at
  while (i < json.length && json.charCodeAt(i) <= 0x20) i++
  return i
}

/** Index behind the value that starts at `start`. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  for (let i = start; i < json.length; i++) {
    const char = json[i]
    if (char === '"') {
      i = endOfString(json, i)
      if (depth === 0) return i + 1
    } else if (char === '{' || char === '[') {
      depth++
    } else if (char === '}' || char === ']') {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (char === ',' || json.charCodeAt(i) <= 0x20)) {
      return i
    }
  }
  return json.length
}

/** Index of the quote that closes the string that opens at `start`. */
function endOfString(json: string, start: number): number {
  let i = start + 1
  while (json[i] !== '"') i += json[i] === '\\' ? 2 : 1
  return i
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function badLine(lineNumber: number, what: string, hint?: string): RmqError {
  return new RmqError('INVALID_INPUT_LINE', `line ${lineNumber} cannot be sent: ${what}`, {
    ...(hint === undefined ? undefined : { hint }),
    details: { line: lineNumber },
  })
}
