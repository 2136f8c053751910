import { RmqError } from '../core/index.ts'
import { EXIT, EXIT_CODES } from './exit-codes.ts'
import { usageText } from './usage-text.ts'

/** What a user is told of an error, whatever threw it. */
export interface ErrorReport {
  readonly code: string
  readonly message: string
  readonly why?: string
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly exitCode: number
  /** Present when it is a fault of rmq itself: the stack, for the report of it. */
  readonly bug?: string
}

/** Errors of three kinds: our own, oclif's complaints about usage, the system's; what remains is a bug. */
export function reportOf(error: unknown): ErrorReport {
  if (error instanceof RmqError) return reportOfRmqError(error)
  if (isUsageError(error)) return reportOfUsage(error)
  if (isSystemError(error)) {
    return {
      code: 'IO_ERROR',
      message: error.message,
      exitCode: EXIT.failure,
      details: { errno: error.code },
    }
  }
  const bug = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'INTERNAL_ERROR', message, exitCode: EXIT.failure, bug }
}

function reportOfRmqError(error: RmqError): ErrorReport {
  return {
    code: error.code,
    message: usageText(error.message),
    ...(error.why === undefined ? undefined : { why: error.why }),
    ...(error.hint === undefined ? undefined : { hint: error.hint }),
    ...(error.details === undefined ? undefined : { details: error.details }),
    exitCode: EXIT_CODES[error.code],
  }
}

/** As oclif's parser throws it. Known by its shape: the class is bundled more than once. */
interface UsageError extends Error {
  readonly oclif: { readonly exit?: number }
}

function isUsageError(error: unknown): error is UsageError {
  return error instanceof Error && 'oclif' in error && typeof error.oclif === 'object' && error.oclif !== null
}

function reportOfUsage(error: UsageError): ErrorReport {
  return {
    code: 'INVALID_ARGUMENT',
    message: usageText(error.message),
    hint: 'add --help to see what the command takes',
    exitCode: EXIT.usage,
  }
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'syscall' in error &&
    /^E[A-Z0-9]+$/.test(error.code)
  )
}

/** The document of `--json`. Absent facts are null, so that the fields are always the same. */
export function errorDocument(report: ErrorReport): { readonly error: Readonly<Record<string, unknown>> } {
  return {
    error: {
      code: report.code,
      message: report.message,
      why: report.why ?? null,
      hint: report.hint ?? null,
      details: report.details ?? null,
      exitCode: report.exitCode,
    },
  }
}
