import { RmqError } from '../core/index.ts'
import { EXIT, EXIT_CODES } from './exit-codes.ts'
import { isReaderGone } from './output.ts'
import { formatPlural } from './quantities.ts'

/** A line for stderr that says what became of the messages before a failure; none where the error says it. */
export function unsentNote(error: unknown, sent: number, atomic: boolean): string | undefined {
  if (isReaderGone(error)) return undefined
  if (atomic && sent === 0) return 'nothing was sent: --atomic stores all messages or none'
  return sent > 0 && !isUsage(error) ? `${formatPlural(sent, 'message')} sent before it failed` : undefined
}

/**
 * A fault of the input is a usage error as long as nothing was sent. Once something was, it is PARTIAL, with the
 * number of messages that are stored, so that a script can go on behind them.
 */
export function afterSome(error: unknown, sent: number): unknown {
  if (sent === 0 || !isUsage(error)) return error
  return new RmqError('PARTIAL', error.message, {
    why: [error.why, `the ${formatPlural(sent, 'message')} before it ${sent === 1 ? 'is' : 'are'} sent`]
      .filter((part) => part !== undefined)
      .join('; '),
    ...(error.hint === undefined ? undefined : { hint: error.hint }),
    details: { ...error.details, sent, cause: error.code },
    cause: error,
  })
}

function isUsage(error: unknown): error is RmqError {
  return error instanceof RmqError && EXIT_CODES[error.code] === EXIT.usage
}
