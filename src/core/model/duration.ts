import { RmqError } from './errors.ts'

/** Milliseconds of each unit. */
export const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const DURATION = /^(\d{1,15})(ms|s|m|h|d)$/

/**
 * Reads `250ms`, `10s`, `5m`, `1h`, `7d` as milliseconds.
 * A number without a unit is refused: one reader takes it for seconds, the next for milliseconds.
 *
 * @throws RmqError INVALID_ARGUMENT
 */
export function parseDuration(text: string): number {
  const ms = tryParseDuration(text)
  if (ms !== undefined) return ms
  const numeric = /^\d+$/.test(text)
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not a duration`, {
    why: numeric ? 'its unit is missing' : 'a duration is a whole number and a unit: ms, s, m, h or d',
    hint: numeric ? `say ${text}s or ${text}ms` : 'for example 250ms, 10s, 5m, 1h or 7d',
  })
}

/** The same, `undefined` instead of an error. */
export function tryParseDuration(text: string): number | undefined {
  const [, digits, unit] = DURATION.exec(text) ?? []
  if (digits === undefined || unit === undefined) return undefined
  const ms = Number(digits) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS]
  return Number.isSafeInteger(ms) ? ms : undefined
}

/** Writes milliseconds in the largest unit that divides them, so that `parseDuration` reads the same number back. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms !== 0 && ms % DURATION_UNITS[unit] === 0) return `${ms / DURATION_UNITS[unit]}${unit}`
  }
  return `${ms}ms`
}
