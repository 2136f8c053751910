import type { ConsumeResult } from '../client/listener.ts'
import { consumeResult } from './consume-result.ts'

/** What a piped handler says of one message. */
export interface StatusLine {
  readonly msgId: string
  readonly result: ConsumeResult
}

const NOT_ASCII = /[\x80-\xff]/

/** `undefined` for everything else that a program may print. `line` has one character a byte (latin1). */
export function parseStatusLine(line: string): StatusLine | undefined {
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
