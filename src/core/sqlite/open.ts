import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { invariant, RmqError } from '../model/errors.ts'
import type { Runtime } from '../model/runtime.ts'
import { retryBusy, setReadTimeout } from './busy-retry.ts'
import { APPLICATION_ID, notOurs, probeFile } from './file-probe.ts'
import { migrate, refuseNewerSchema } from './migrations/migrate.ts'
import { type FileIdentity, fileIdentity, openFiles } from './open-files.ts'
import { storeError } from './store-errors.ts'

/** What the write-ahead log keeps on the disk after it had to grow. */
const WAL_BYTES_KEPT_MAX = 64 * 1024 * 1024

export interface OpenOptions {
  readonly path: string
  readonly durability: 'full' | 'normal'
  /** False: where there is no file, an empty store in memory answers, and no file appears. */
  readonly create: boolean
  readonly runtime: Runtime
}

export interface OpenFile {
  readonly db: Database.Database
  /** Absolute. */
  readonly path: string
  /** Which file was opened; `undefined` for a store in memory. */
  readonly identity: FileIdentity | undefined
  readonly storeId: number
}

/** Opens the database file, checked before anything is changed, at the newest schema. */
export function openFile(options: OpenOptions): OpenFile {
  const path = resolve(options.path)
  try {
    const found = probeFile(path)
    if (found === 'missing' && !options.create) return openInMemory(path, options.runtime)
    if (found === 'missing') createFile(path)
    checkWritable(path)
    return openOnDisk(path, options)
  } catch (error) {
    throw storeError(error, path)
  }
}

/** Closes the connection; the last one on a file folds the write-ahead log into it. */
export function closeFile(file: OpenFile): void {
  file.db.close()
  if (file.identity !== undefined) openFiles.remove(file.identity)
}

function openOnDisk(path: string, { durability, runtime }: OpenOptions): OpenFile {
  // Nothing of this process may close another descriptor of the file from here on, see `open-files.ts`.
  const identity = fileIdentity(path)
  invariant(identity !== undefined, 'the file was made or found a moment ago')
  const db = new Database(path, { timeout: 0 })
  openFiles.add(identity)
  try {
    retryBusy(runtime, path, () => claim(db, path))
    setPragmas(db, durability)
    migrate(db, path, runtime)
    setReadTimeout(db)
    return { db, path, identity, storeId: readStoreId(db) }
  } catch (error) {
    closeFile({ db, path, identity, storeId: 0 })
    throw error
  }
}

function openInMemory(path: string, runtime: Runtime): OpenFile {
  const db = new Database(':memory:')
  db.pragma('foreign_keys = on')
  migrate(db, path, runtime)
  return { db, path, identity: undefined, storeId: readStoreId(db) }
}

/**
 * Checks once more through SQLite, because the log may hold a newer header than the file, and makes a new file
 * ours. The application id is written before the switch to WAL, so that it stands in the file itself from the
 * first moment and `probeFile` finds it there.
 */
function claim(db: Database.Database, path: string): void {
  const applicationId = db.pragma('application_id', { simple: true })
  if (applicationId !== APPLICATION_ID) {
    const pages = db.pragma('page_count', { simple: true }) as number
    const isBlank = pages <= 1 && applicationId === 0
    if (!isBlank) throw notOurs(path, `it is another program's SQLite database (${pages} pages)`)
    db.pragma('page_size = 4096')
    db.pragma('auto_vacuum = incremental')
    db.pragma(`application_id = ${APPLICATION_ID}`)
  }
  const version = db.pragma('user_version', { simple: true }) as number
  refuseNewerSchema(path, version)
  const mode = db.pragma('journal_mode = wal', { simple: true })
  if (mode === 'wal') return
  throw new RmqError('STORE_UNWRITABLE', `${path}: this file system takes no write-ahead log`, {
    why: `SQLite answered journal_mode ${mode}`,
    hint: 'put the database on a local disk with --db',
  })
}

function setPragmas(db: Database.Database, durability: 'full' | 'normal'): void {
  // SQLite opens an existing WAL file at NORMAL whatever it was created with.
  db.pragma(`synchronous = ${durability}`)
  const level = db.pragma('synchronous', { simple: true })
  invariant(level === (durability === 'full' ? 2 : 1), `synchronous ${durability} reads back as ${level}`)
  db.pragma('foreign_keys = on')
  db.pragma('trusted_schema = off')
  // In KiB. Queues are read and written at their ends: the 16 MiB of this build's default bring nothing.
  db.pragma('cache_size = -4096')
  db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT_MAX}`)
}

function readStoreId(db: Database.Database): number {
  return db.prepare('select store_id from store').pluck().get() as number
}

/** Folder 0700 and file 0600 whatever the umask: messages are private. */
function createFile(path: string): void {
  createFolder(dirname(path))
  try {
    const fd = openSync(path, 'wx', 0o600)
    fchmodSync(fd, 0o600)
    closeSync(fd)
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Folder by folder: a recursive `mkdir` below a parent that takes none (such as /proc) never returns. */
function createFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return
  createFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
    chmodSync(folder, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function checkWritable(path: string): void {
  for (const [what, place] of [
    ['file', path],
    ['folder', dirname(path)],
  ] as const) {
    try {
      accessSync(place, constants.R_OK | constants.W_OK | (what === 'folder' ? constants.X_OK : 0))
    } catch (error) {
      throw new RmqError('STORE_UNWRITABLE', `${path}: the ${what} cannot be written`, {
        why: `${place}: ${(error as Error).message}; SQLite keeps -wal and -shm files beside the database`,
        hint: `check owner and mode: ls -ld ${place}`,
        details: { path, place },
        cause: error,
      })
    }
  }
}
