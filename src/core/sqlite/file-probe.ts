import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { RmqError } from '../model/errors.ts'
import { sleepBlocking } from './busy-retry.ts'
import { refuseNewerSchema } from './migrations/migrate.ts'
import { fileIdentity, openFiles } from './open-files.ts'

/** 'rmq1': tells our files from other programs' SQLite databases. */
export const APPLICATION_ID = 0x726d7131

const HEADER_BYTES = 100
const LOOKS_AT_LENGTH = 5
const LOOK_AGAIN_MS = 10
const MAGIC = 'SQLite format 3\0'

/**
 * Looks at what lies at `path` without changing anything, which SQLite itself cannot promise: opening a WAL file
 * leaves -shm and -wal beside it. Throws when it is not ours, is damaged, or is from a newer rmq.
 */
export function probeFile(path: string): 'missing' | 'empty' | 'store' {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return 'missing'
  if (!stats.isFile()) throw notOurs(path, `it is ${kindOf(stats)}`)
  if (stats.size === 0) return 'empty'
  const file = fileIdentity(path)
  // A descriptor closed here would drop the locks of the connection that this process has; it has checked the file.
  if (file !== undefined && openFiles.has(file)) return 'store'
  checkHeader(path, readHeader(path))
  checkLength(path)
  // SQLite would open a file that it cannot write all the same, and fail at the first write.
  closeSync(openSync(path, 'r+'))
  return 'store'
}

export function notOurs(path: string, why: string): RmqError {
  return new RmqError('STORE_NOT_A_DATABASE', `${path} is not an rmq database`, {
    why: `${why}; it was not changed`,
    hint: 'name another file with --db, or move this one away',
    details: { path },
  })
}

function checkHeader(path: string, header: Buffer): void {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 16) !== MAGIC) {
    throw notOurs(path, 'it is no SQLite file')
  }
  const applicationId = header.readUInt32BE(68)
  if (isBlank(header)) return
  if (applicationId !== APPLICATION_ID) {
    throw notOurs(
      path,
      `it is another program's SQLite database (application id 0x${applicationId.toString(16)})`,
    )
  }
  refuseNewerSchema(path, header.readUInt32BE(60))
}

/** A process that folds its log at this moment writes the header before the pages behind it: that passes. */
function checkLength(path: string): void {
  for (let looks = 1; ; looks++) {
    const missing = missingBytes(path)
    if (missing === undefined) return
    if (looks === LOOKS_AT_LENGTH) throw cutShort(path, missing)
    sleepBlocking(LOOK_AGAIN_MS)
  }
}

/** What the header says and what is there, where that is less. */
function missingBytes(path: string): { readonly found: number; readonly expected: number } | undefined {
  const walBytes = fileSize(`${path}-wal`)
  const header = readHeader(path)
  // With pages still in the write-ahead log the file may rightly be shorter than its header says.
  if (walBytes > 0 || header.readUInt32BE(24) !== header.readUInt32BE(92)) return undefined
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const expected = header.readUInt32BE(28) * pageSize
  const found = fileSize(path)
  return found >= expected || fileSize(`${path}-wal`) > 0 ? undefined : { found, expected }
}

function cutShort(path: string, { found, expected }: { found: number; expected: number }): RmqError {
  return new RmqError('STORE_DAMAGED', `${path} is cut short`, {
    why: `it has ${found} bytes, its header says ${expected}`,
    hint: 'keep the file, and restore a backup or try: sqlite3 FILE .recover',
    details: { path, bytes: found, expectedBytes: expected },
  })
}

/**
 * A database of a single page holds no table, so it is nobody's: another process is about to make it a store. SQLite
 * writes that page before the application id can be set.
 */
function isBlank(header: Buffer): boolean {
  return header.readUInt32BE(28) === 1 && header.readUInt32BE(68) === 0 && header.readUInt32BE(60) === 0
}

function readHeader(path: string): Buffer {
  const fd = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    return header.subarray(0, readSync(fd, header, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(fd)
  }
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe (FIFO)'
  if (stats.isSocket()) return 'a socket'
  return 'a device'
}
