import { CONSUME_STATUSES, type ConsumeResult, type ConsumeStatus } from '../client/listener.ts'
import { clipEnd } from './error-text.ts'

const STATUSES: ReadonlySet<unknown> = new Set(CONSUME_STATUSES)

/** What `status`, `error` and `suspendMs` of a program's answer say; `undefined` when `status` is none. */
export function consumeResult(answer: Readonly<Record<string, unknown>>): ConsumeResult | undefined {
  const { status, suspendMs } = answer
  if (!isStatus(status)) return undefined
  if (status === 'success' || status === 'commit') return { status }
  const error = errorText(answer.error)
  const isPause = typeof suspendMs === 'number' && Number.isFinite(suspendMs) && suspendMs >= 0
  return {
    status,
    ...(error === undefined ? undefined : { error }),
    ...(isPause ? { suspendMs } : undefined),
  }
}

export function isStatus(value: unknown): value is ConsumeStatus {
  return STATUSES.has(value)
}

/** An error may be any value; what is no text is kept as JSON. */
export function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  if (error instanceof Error) return clipEnd(error.message)
  return clipEnd(typeof error === 'string' ? error : (jsonOf(error) ?? String(error)))
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // A cycle, or a bigint.
    return undefined
  }
}
