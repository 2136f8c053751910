import type Database from 'better-sqlite3'
import type { Host } from './host.ts'

/** What every part of the embedded broker works on: one open file, its single way to write, and the machine. */
export interface Store {
  readonly db: Database.Database
  readonly host: Host
  /** Path of the database file. */
  readonly path: string
  /** Folder of the liveness files. */
  readonly livenessFolder: string
  /** 32 random bits, unique to this file. */
  readonly storeId: number
  readonly write: Write
}

/**
 * Runs `job` inside one immediate transaction, together with whatever else waits to be written, and resolves
 * with its result when that is committed. `job` is synchronous, may run twice (so it changes nothing but the
 * database), and may throw: then only its own changes are undone. A job that returns a promise is a bug.
 */
export type Write = <T>(job: () => T, options?: WriteOptions) => Promise<T>

export interface WriteOptions {
  /**
   * `durable` waits for the disk (unless the file was opened with durability `normal`): sends and what people
   * change by command. Default false: safe against a crash of the process, at a power cut the last moments
   * may be undone, which for offsets, locks and attempts only means a redelivery.
   */
  readonly durable?: boolean
  /** Wake waiting processes after the commit. */
  readonly wake?: boolean
}
