import { RmqError } from './errors.ts'

const UNITS = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
} as const

const SIZE = /^(\d{1,15})(b|[kmg]i?b)?$/i

/**
 * Reads `512`, `4KiB`, `1MB` as bytes: KB, MB and GB are powers of 1000, KiB, MiB and GiB of 1024.
 * Case does not matter.
 *
 * @throws RmqError INVALID_ARGUMENT
 */
export function parseSize(text: string): number {
  const [match, digits, unit = ''] = SIZE.exec(text) ?? []
  const bytes = Number(digits) * UNITS[unit.toLowerCase() as keyof typeof UNITS]
  if (match !== undefined && Number.isSafeInteger(bytes)) return bytes
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not a size`, {
    why: 'a size is a whole number of bytes, or one with a unit: B, KB, KiB, MB, MiB, GB or GiB',
    hint: 'for example 512, 4KiB or 1MB',
  })
}

/** Writes bytes in the largest binary unit that divides them, so that `parseSize` reads the same number back. */
export function formatSize(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', UNITS.gib],
    ['MiB', UNITS.mib],
    ['KiB', UNITS.kib],
  ] as const) {
    if (bytes !== 0 && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return `${bytes}B`
}
