import type { ConsumeResult, ConsumeStatus } from '../client/listener.ts'
import { clipEnd } from './error-text.ts'

/** What a piped handler says of one message. */
export interface StatusLine {
  readonly msgId: string
  readonly result: ConsumeResult
}

/**
 * RocketMQ's COMMIT and ROLLBACK are for a consumer that commits by hand. One that commits by itself, as here,
 * takes them for SUCCESS and for SUSPEND_CURRENT_QUEUE_A_MOMENT (`ConsumeMessageOrderlyService`).
 */
const STATUSES: ReadonlyMap<unknown, ConsumeStatus> = new Map([
  ['success', 'success'],
  ['retry', 'retry'],
  ['dead-letter', 'dead-letter'],
  ['commit', 'success'],
  ['rollback', 'retry'],
])

/** `undefined` for everything else that a program may print. */
export function parseStatusLine(line: string): StatusLine | undefined {
  // Most other output is told from a status by its first character, without an exception.
  if (!line.trimStart().startsWith('{')) return undefined
  const value = parseObject(line)
  if (value === undefined || typeof value.id !== 'string') return undefined
  const status = STATUSES.get(value.status)
  if (status === undefined) return undefined
  if (status === 'success') return { msgId: value.id, result: { status } }
  const error = errorText(value.error)
  const { suspendMs } = value
  const isPause = typeof suspendMs === 'number' && Number.isFinite(suspendMs) && suspendMs >= 0
  return {
    msgId: value.id,
    result: {
      status,
      ...(error === undefined ? undefined : { error }),
      ...(isPause ? { suspendMs } : undefined),
    },
  }
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** An error may be any JSON value; what is no string is kept as it was written. */
function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  return clipEnd(typeof error === 'string' ? error : JSON.stringify(error))
}
