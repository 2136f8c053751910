import type Database from 'better-sqlite3'
import { RmqError } from '../model/errors.ts'
import { STORE_BUSY_TIMEOUT_MS } from '../model/limits.ts'
import type { Runtime } from '../model/runtime.ts'
import { isBusy } from './store-errors.ts'

/**
 * Waiting for another process's lock. SQLite's own busy handler sleeps up to 100 ms between tries and so never
 * meets the short gap between two commits of a writer that waits for its disk: such losers got no turn at all.
 * Hence writers have timeout 0, and these short jittered sleeps.
 */
const RETRY_MS_MIN = 0.1
const RETRY_MS_MAX = 0.5
const RETRY_GROWTH = 1.5

/** After this time of sleeping, or so many tries, the event loop gets a turn. */
const BLOCKING_MS_MAX = 3
const BLOCKING_TRIES_MAX = 20

/** A writer that commits again and again leaves the others a gap, up to this long, while it meets contention. */
const PAUSE_MS_MAX = 0.2

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Less than a millisecond or so, mostly: the event loop stands still. */
export function sleepBlocking(ms: number): void {
  Atomics.wait(cell, 0, 0, ms)
}

/**
 * Reads wait for a lock only while another process repairs the log after a crash: for that SQLite's own handler is
 * good enough, and no read has to think of it.
 */
export function setReadTimeout(db: Database.Database): void {
  db.exec(`pragma busy_timeout = ${STORE_BUSY_TIMEOUT_MS}`)
}

/** Runs `fn` again until no lock is in the way; blocks the process meanwhile. For opening. */
export function retryBusy<T>(runtime: Runtime, path: string, fn: () => T): T {
  const since = runtime.monotonic()
  let delay = RETRY_MS_MIN
  for (;;) {
    try {
      return fn()
    } catch (error) {
      if (!isBusy(error)) throw error
      refuseAfterTimeout(runtime, path, since, error)
      sleepBlocking(delay * (0.5 + runtime.random()))
      delay = Math.min(delay * RETRY_GROWTH, RETRY_MS_MAX)
    }
  }
}

/** One writer's way to the write lock, fair to the writers of other processes. */
export class WriteLock {
  readonly #runtime: Runtime
  readonly #path: string
  readonly #db: Database.Database
  readonly #begin: Database.Statement
  #waitingSince: number | undefined
  #delay = RETRY_MS_MIN
  /** 0: nobody in the way lately; 1: always somebody. */
  #contention = 0
  #releasedAt = Number.NEGATIVE_INFINITY

  constructor(db: Database.Database, path: string, runtime: Runtime) {
    this.#db = db
    this.#path = path
    this.#runtime = runtime
    this.#begin = db.prepare('begin immediate')
  }

  /**
   * True: the transaction has begun. False: give the event loop a turn and call again.
   * Throws STORE_BUSY when the lock could not be had in STORE_BUSY_TIMEOUT_MS.
   */
  acquire(): boolean {
    const started = this.#runtime.monotonic()
    this.#leaveGap(started)
    this.#waitingSince ??= started
    this.#db.exec('pragma busy_timeout = 0')
    try {
      return this.#tryUntil(started + BLOCKING_MS_MAX)
    } catch (error) {
      this.#reset()
      throw error
    } finally {
      setReadTimeout(this.#db)
    }
  }

  /** The transaction has ended. */
  released(): void {
    this.#releasedAt = this.#runtime.monotonic()
  }

  #tryUntil(deadline: number): boolean {
    for (let tries = 1; ; tries++) {
      try {
        this.#begin.run()
        this.#contention = this.#contention * 0.9 + (this.#delay > RETRY_MS_MIN ? 0.1 : 0)
        this.#reset()
        return true
      } catch (error) {
        if (!isBusy(error)) throw error
        refuseAfterTimeout(this.#runtime, this.#path, this.#waitingSince ?? deadline, error)
      }
      if (tries === BLOCKING_TRIES_MAX || this.#runtime.monotonic() >= deadline) return false
      sleepBlocking(this.#delay * (0.5 + this.#runtime.random()))
      this.#delay = Math.min(this.#delay * RETRY_GROWTH, RETRY_MS_MAX)
    }
  }

  #leaveGap(now: number): void {
    if (this.#waitingSince !== undefined || this.#contention < 0.01) return
    const rest = this.#releasedAt + PAUSE_MS_MAX * this.#contention - now
    if (rest > 0) sleepBlocking(rest)
  }

  #reset(): void {
    this.#waitingSince = undefined
    this.#delay = RETRY_MS_MIN
  }
}

function refuseAfterTimeout(runtime: Runtime, path: string, since: number, cause: unknown): void {
  const waited = runtime.monotonic() - since
  if (waited < STORE_BUSY_TIMEOUT_MS) return
  throw new RmqError('STORE_BUSY', `${path}: another process keeps the database locked`, {
    why: `waited ${Math.round(waited)} ms for its write lock`,
    hint: 'look for a process with an open transaction on the file (fuser FILE), end it, and try again',
    details: { path, waitedMs: Math.round(waited) },
    cause,
  })
}
