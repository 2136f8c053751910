import { LAST_ERROR_BYTES_MAX } from '../model/limits.ts'

/** What is kept of a complaint: its last LAST_ERROR_BYTES_MAX bytes, since a stack or a log ends with the cause. */
export function keptError(error: string | null): string | null {
  if (error === null) return null
  const bytes = Buffer.from(error, 'utf8')
  if (bytes.length <= LAST_ERROR_BYTES_MAX) return error
  let from = bytes.length - LAST_ERROR_BYTES_MAX
  // Not in the middle of a character: continuation bytes are 10xxxxxx.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.toString('utf8', from)
}
