import type { ConsumeResult } from '../client/listener.ts'
import { consumeResult } from './consume-result.ts'

/** What a piped handler says of one message. */
export interface StatusLine {
  readonly msgId: string
  readonly result: ConsumeResult
}

/** What nearly all lines are, as JSON writers of any language write it: told by this in half the time of a parser. */
const SUCCESS_LINE = /^\{"id": ?"([0-9A-Za-z]+)", ?"status": ?"success"\}$/
const SUCCESS: ConsumeResult = { status: 'success' }
const NOT_ASCII = /[\x80-\xff]/

/** `undefined` for everything else that a program may print. `line` has one character a byte (latin1). */
export function parseStatusLine(line: string): StatusLine | undefined {
  const msgId = SUCCESS_LINE.exec(line)?.[1]
  if (msgId !== undefined) return { msgId, result: SUCCESS }
  // Most other output is told from a status by its first character, without an exception.
  if (!line.trimStart().startsWith('{')) return undefined
  const value = parseObject(NOT_ASCII.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line)
  if (value === undefined || typeof value.id !== 'string') return undefined
  const result = consumeResult(value)
  return result === undefined ? undefined : { msgId: value.id, result }
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
