import { closeSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RmqError } from '../model/errors.ts'

/**
 * Calls `use` with a descriptor that reads `bytes` from the start. The file is private and has no name any more:
 * whoever inherits the descriptor sees all of it, whatever becomes of this process, and nobody else can open it.
 * A pipe was rejected: a parent that is killed in between would leave a child with half a body.
 */
export async function withPrivateFile<T>(bytes: Uint8Array, use: (fd: number) => Promise<T>): Promise<T> {
  const fd = openPrivate(bytes)
  try {
    return await use(fd)
  } finally {
    closeSync(fd)
  }
}

function openPrivate(bytes: Uint8Array): number {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'rmq-'))
    const path = join(folder, 'body')
    try {
      writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 })
      return openSync(path, 'r')
    } finally {
      attempt(() => unlinkSync(path))
      attempt(() => rmdirSync(folder))
    }
  } catch (error) {
    throw new RmqError(
      'HANDLER_FAILED',
      `a body of ${bytes.length} bytes could not be laid out for the handler`,
      {
        why: error instanceof Error ? error.message : String(error),
        hint: `make room in ${tmpdir()}, or set TMPDIR to another folder`,
        cause: error,
      },
    )
  }
}

/** Tidying up must not hide the error that made it necessary. */
function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // Never written, or never made.
  }
}
