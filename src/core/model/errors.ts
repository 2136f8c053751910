/** Every way in which rmq refuses or fails. Stable: scripts match on these words. */
export const RMQ_ERROR_CODES = [
  'INVALID_ARGUMENT',
  'INVALID_NAME',
  'INVALID_MESSAGE',
  'INVALID_INPUT_LINE',
  'MESSAGE_TOO_LARGE',
  'SELECTOR_FAILED',
  'CONFIRMATION_REQUIRED',
  'TOPIC_NOT_FOUND',
  'GROUP_NOT_FOUND',
  'QUEUE_NOT_FOUND',
  'MESSAGE_NOT_FOUND',
  'CONTEXT_NOT_FOUND',
  'TOPIC_EXISTS',
  'GROUP_EXISTS',
  'GROUP_ACTIVE',
  'GROUP_CONFLICT',
  'CLIENT_ID_IN_USE',
  'LOCK_HELD',
  'LOCK_LOST',
  'SCHEMA_TOO_NEW',
  'TOPIC_READ_ONLY',
  'ROUTE_CHANGED',
  'UNSUPPORTED_BY_BROKER',
  'STORE_BUSY',
  'STORE_DAMAGED',
  'STORE_NOT_A_DATABASE',
  'STORE_UNWRITABLE',
  'STORE_FULL',
  'STORE_MOVED',
  'STORE_DRIVER_MISSING',
  'HANDLER_NOT_FOUND',
  'HANDLER_FAILED',
  'TIMED_OUT',
  'EMPTY',
  'PARTIAL',
  'CHECK_FAILED',
  'IO_ERROR',
  'INTERRUPTED',
] as const

export type RmqErrorCode = (typeof RMQ_ERROR_CODES)[number]

export interface RmqErrorOptions {
  /** The state that was seen, with numbers. */
  readonly why?: string
  /** The next command to run, or the thing to change. */
  readonly hint?: string
  /** Facts for programs. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The one error class of rmq: a stable code, what happened (the message), why, and what to do next. */
export class RmqError extends Error {
  override readonly name = 'RmqError'
  readonly code: RmqErrorCode
  readonly why: string | undefined
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: RmqErrorCode, message: string, options: RmqErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.why = options.why
    this.hint = options.hint
    this.details = options.details
  }
}

/** A condition of our own that must hold. Its failure is a bug of rmq, never of its user. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation'
}

export function invariant(condition: unknown, what: string): asserts condition {
  if (!condition) throw new InvariantViolation(what)
}
