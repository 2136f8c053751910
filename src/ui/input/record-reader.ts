import { isUtf8 } from 'node:buffer'
import { type Message, parseRecordLine, RmqError } from '../../core/index.ts'
import { type MessageTemplate, withTemplate } from './message-template.ts'
import type { Delimiter } from './record-splitter.ts'

export const INPUT_FORMATS = ['lines', 'ndjson', 'raw0'] as const
export type InputFormat = (typeof INPUT_FORMATS)[number]

export interface RecordReaderOptions {
  readonly template: MessageTemplate
  readonly format: InputFormat
  /** What stands between the key and the body of a line. Not for NDJSON. */
  readonly keyDelimiter?: string | undefined
  /** The field of an NDJSON body that is its key. */
  readonly keyField?: string | undefined
}

/** Makes a message of a record of the input; `undefined` where there is none. `line` is its number, from 1. */
export type RecordReader = (record: Buffer, line: number) => Message | undefined

export function delimiterOf(format: InputFormat): Delimiter {
  return format === 'raw0' ? 'nul' : 'newline'
}

/**
 * How records become messages. INVALID_INPUT_LINE names the line.
 *
 * - `lines`, `raw0`: the bytes of a record are the body, a CR too; an empty one is a message of 0 bytes.
 * - `ndjson`: see `parseRecordLine`; a blank line is none.
 */
export function recordReader(options: RecordReaderOptions): RecordReader {
  const { template, format, keyDelimiter, keyField } = options
  if (format === 'ndjson') return ndjsonReader(template, keyField)
  if (keyDelimiter !== undefined) return keyedReader(template, keyDelimiter)
  return (record) => ({ ...template, body: record })
}

function keyedReader(template: MessageTemplate, keyDelimiter: string): RecordReader {
  const delimiter = Buffer.from(keyDelimiter, 'utf8')
  return (record, line) => {
    const at = record.indexOf(delimiter)
    if (at === -1) {
      throw badLine(
        line,
        `it has no ${JSON.stringify(keyDelimiter)}`,
        'each line is KEY, the key delimiter, BODY',
      )
    }
    const bytes = record.subarray(0, at)
    if (bytes.length === 0) throw badLine(line, 'its key is empty')
    if (!isUtf8(bytes)) throw badLine(line, 'its key is not valid UTF-8')
    return { ...template, key: bytes.toString('utf8'), body: record.subarray(at + delimiter.length) }
  }
}

const BLANK = /^\s*$/
const SPACE = 0x20
/** The only way in which half of a surrogate pair comes into valid UTF-8. */
const ESCAPED_UNIT = Buffer.from('\\u')
const HALF_OF_PAIR = /\p{Surrogate}/u

function ndjsonReader(template: MessageTemplate, keyField: string | undefined): RecordReader {
  return (record, line) => {
    if (isBlank(record)) return undefined
    const input = parseRecordLine(record, line, Date.now())
    const plain = withTemplate(template, input)
    const message = keyField === undefined ? plain : { ...plain, key: keyOf(input.body, keyField, line) }
    if (message.key === '')
      throw badLine(line, 'its key is empty', 'leave the key out, or null, to send without one')
    if (record.includes(ESCAPED_UNIT)) refuseHalves(message, line)
    return message
  }
}

/** UTF-8 cannot hold half of a surrogate pair, and a stand-in would make one key of two. */
function refuseHalves({ key, keys = [], tags, properties = {} }: Message, line: number): void {
  const texts = [key, tags, ...keys, ...Object.keys(properties), ...Object.values(properties)]
  if (!texts.some((text) => text !== undefined && HALF_OF_PAIR.test(text))) return
  throw badLine(line, 'a key, tag or property has half of a surrogate pair, which no UTF-8 text can hold')
}

function isBlank(record: Buffer): boolean {
  const first = record[0]
  if (first !== undefined && first > SPACE) return false
  return BLANK.test(record.toString('latin1'))
}

/** The key that a body carries. A number keeps its digits; what is no exact number is refused, not rounded. */
function keyOf(body: Message['body'], field: string, line: number): string {
  const value = fieldOf(body, field)
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  const what = value === undefined ? 'there is none' : `it is ${JSON.stringify(value)}`
  throw badLine(
    line,
    `its body gives no key: field ${JSON.stringify(field)}, ${what}`,
    'a key is a text or an integer',
  )
}

function fieldOf(body: Message['body'], field: string): unknown {
  try {
    const value: unknown = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'))
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined
    return (value as Record<string, unknown>)[field]
  } catch {
    return undefined
  }
}

function badLine(line: number, what: string, hint?: string): RmqError {
  return new RmqError('INVALID_INPUT_LINE', `line ${line} cannot be sent: ${what}`, {
    ...(hint === undefined ? undefined : { hint }),
    details: { line },
  })
}
