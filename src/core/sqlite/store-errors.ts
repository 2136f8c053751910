import { RmqError, type RmqErrorCode } from '../model/errors.ts'

/**
 * The one place where failures of SQLite, of the file system and of the native module become errors of rmq.
 * What it does not know it gives back unchanged: an `RmqError`, or a bug that must not be dressed up.
 */
export function storeError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof RmqError) return error
  const driver = driverMissing(error)
  if (driver !== undefined) return driver
  const code = (error as NodeJS.ErrnoException).code
  if (typeof code !== 'string') return error
  const fault = code.startsWith('SQLITE_') ? sqliteFault(code) : fileFault(code)
  if (fault === undefined) return error
  return new RmqError(fault.code, `${path}: ${fault.what}`, {
    why: `${error.message} (${code})`,
    hint: fault.hint,
    details: { path, cause: code },
    cause: error,
  })
}

/** STORE_DRIVER_MISSING when better-sqlite3 is not installed, not compiled, or compiled for another Node. */
export function driverMissing(error: unknown): RmqError | undefined {
  if (!(error instanceof Error)) return undefined
  const code = (error as NodeJS.ErrnoException).code
  const absent =
    (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') &&
    error.message.includes('better-sqlite3')
  const foreign = code === 'ERR_DLOPEN_FAILED'
  if (!absent && !foreign && !error.message.startsWith('Could not locate the bindings file')) return undefined
  return new RmqError('STORE_DRIVER_MISSING', 'the SQLite driver better-sqlite3 cannot be loaded', {
    why: foreign
      ? `it was compiled for another Node; this is ${process.version} (ABI ${process.versions.modules})`
      : 'its native module is not there',
    hint: 'run in the folder where rmq is installed: npm rebuild better-sqlite3',
    cause: error,
  })
}

/** Whether the lock of another connection is all that was in the way. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
}

interface Fault {
  readonly code: RmqErrorCode
  readonly what: string
  readonly hint: string
}

const FULL: Fault = {
  code: 'STORE_FULL',
  what: 'the disk takes no more: it is full, or a quota or file size limit is reached',
  hint: 'free space (df, quota, ulimit -f), then try again: nothing was stored half',
}
const UNWRITABLE: Fault = {
  code: 'STORE_UNWRITABLE',
  what: 'the database cannot be written',
  hint: 'rmq writes the file and its folder (SQLite keeps -wal and -shm files there): check their owner and mode',
}
const DAMAGED: Fault = {
  code: 'STORE_DAMAGED',
  what: 'the database is damaged',
  hint: 'keep the file, and restore a backup or try: sqlite3 FILE .recover',
}

/** By the primary word of SQLite's extended codes; the more special first. */
const SQLITE_FAULTS: readonly (readonly [prefix: string, fault: Fault])[] = [
  ['SQLITE_FULL', FULL],
  // A write that fails for a quota or a size limit reports no more than this; ENOSPC alone has a code of its own.
  ['SQLITE_IOERR_WRITE', FULL],
  ['SQLITE_IOERR_SHMSIZE', FULL],
  ['SQLITE_IOERR_TRUNCATE', FULL],
  [
    'SQLITE_READONLY_DBMOVED',
    {
      code: 'STORE_MOVED',
      what: 'the database file was moved or deleted while in use',
      hint: 'stop all rmq processes on it and start them again',
    },
  ],
  ['SQLITE_READONLY', UNWRITABLE],
  ['SQLITE_CANTOPEN', UNWRITABLE],
  ['SQLITE_PERM', UNWRITABLE],
  [
    'SQLITE_NOTADB',
    {
      code: 'STORE_NOT_A_DATABASE',
      what: 'the file is not an rmq database',
      hint: 'name another file with --db, or move this one away',
    },
  ],
  ['SQLITE_CORRUPT', DAMAGED],
  [
    'SQLITE_BUSY',
    {
      code: 'STORE_BUSY',
      what: 'another process holds the database',
      hint: 'try again; see: rmq locks list',
    },
  ],
  [
    'SQLITE_IOERR',
    {
      code: 'IO_ERROR',
      what: 'reading or writing the database failed',
      hint: 'check the disk (dmesg), then try again',
    },
  ],
]

function sqliteFault(code: string): Fault | undefined {
  return SQLITE_FAULTS.find(([prefix]) => code.startsWith(prefix))?.[1]
}

function fileFault(code: string): Fault | undefined {
  if (['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return FULL
  if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT', 'ELOOP', 'ENAMETOOLONG'].includes(code))
    return UNWRITABLE
  if (['EIO', 'EMFILE', 'ENFILE', 'EBUSY'].includes(code)) {
    return {
      code: 'IO_ERROR',
      what: 'the system refused the file',
      hint: 'check the disk and the limits, then try again',
    }
  }
  return undefined
}
