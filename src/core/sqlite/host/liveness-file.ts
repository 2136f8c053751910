import { chmodSync, mkdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { RmqError } from '../../model/errors.ts'
import type { LivenessHandle } from '../host.ts'

/**
 * Proof of life: an exclusive SQLite transaction on a file of 0 bytes that nobody else takes. The kernel drops the
 * lock with the process, and keeps it under SIGSTOP.
 *
 * Two rules keep it. A handle that nothing refers to is collected, and its lock goes without a word: hence `held`.
 * And these files are never opened with `fs`: POSIX drops all locks of a process on a file as soon as the process
 * closes any descriptor of it. `stat`, `chmod` and `unlink` open nothing.
 */
const held = new Map<string, Database.Database>()

/** A look of another process lasts a fraction of a millisecond; it must not pass for a holder. */
const LOOKERS_WAIT_MS = 20
/** The file may be removed by its former holder between our open and our lock. */
const HOLD_TRIES_MAX = 10

/**
 * Creates the file (0600, its folder 0700) and takes its lock. `undefined` when another client has it.
 * STORE_UNWRITABLE when the file cannot be made.
 */
export function holdLivenessFile(path: string): LivenessHandle | undefined {
  if (held.has(path)) return undefined
  try {
    makeFolder(dirname(path))
    for (let tries = 0; tries < HOLD_TRIES_MAX; tries++) {
      const db = lockedOrUndefined(path)
      if (db === undefined) return undefined
      if (db === 'removed') continue
      held.set(path, db)
      return { release: () => release(path, db) }
    }
  } catch (error) {
    throw unwritable(path, error)
  }
  throw unwritable(path, new Error(`it was removed ${HOLD_TRIES_MAX} times while it was being locked`))
}

/**
 * Whether a process holds the lock. A missing file is not held; one that cannot be judged (another user's) is:
 * then the lease decides.
 */
export function isLivenessFileHeld(path: string): boolean {
  if (held.has(path)) return true
  if (inodeOf(path) === undefined) return false
  let db: Database.Database | undefined
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 })
    // A read takes a shared lock: lookers do not see each other, and a holder keeps them all out.
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    // Content that is no database can only be read where nobody has the lock.
    if (isSqlite(error, 'SQLITE_NOTADB')) return false
    return inodeOf(path) !== undefined
  } finally {
    db?.close()
  }
}

function lockedOrUndefined(path: string): Database.Database | 'removed' | undefined {
  const db = new Database(path, { timeout: LOOKERS_WAIT_MS })
  let isKept = false
  try {
    const opened = inodeOf(path)
    if (opened === undefined) return 'removed'
    chmodSync(path, 0o600)
    // No journal file may appear beside it.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
    if (inodeOf(path) !== opened) return 'removed'
    isKept = true
    return db
  } catch (error) {
    if (isSqlite(error, 'SQLITE_BUSY')) return undefined
    if (isErrno(error, 'ENOENT')) return 'removed'
    throw error
  } finally {
    if (!isKept) db.close()
  }
}

/** Removes the file while its lock still stands: a moment later it may be the next holder's. */
function release(path: string, db: Database.Database): void {
  if (held.get(path) !== db) return
  held.delete(path)
  try {
    unlinkSync(path)
  } catch {
    // Somebody cleaned up, or the folder became read-only: a file without a lock says "dead", which is true.
  } finally {
    db.close()
  }
}

/** One level only: the database's own folder is there. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

function unwritable(path: string, cause: unknown): RmqError {
  return new RmqError('STORE_UNWRITABLE', `the liveness file ${path} cannot be locked`, {
    why: cause instanceof Error ? cause.message : String(cause),
    hint: 'check who owns the folder and whether its file system takes locks',
    cause,
  })
}

function isSqlite(error: unknown, code: string): boolean {
  return error instanceof Database.SqliteError && (error.code === code || error.code.startsWith(`${code}_`))
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
