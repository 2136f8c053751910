import type Database from 'better-sqlite3'
import { invariant, RmqError } from '../model/errors.ts'
import type { Runtime } from '../model/runtime.ts'
import { WriteLock } from './busy-retry.ts'
import type { Write, WriteOptions } from './store.ts'
import { storeError } from './store-errors.ts'

/** Bounds the latency of a transaction: about 20 ms of single sends. */
const JOBS_PER_TRANSACTION_MAX = 4096
/** The event loop's turn while another process has the lock. */
const BUSY_TURN_MS = 1

interface Job {
  readonly run: () => unknown
  readonly options: WriteOptions
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  result: unknown
  failed: boolean
}

export interface WriterOptions {
  readonly db: Database.Database
  readonly path: string
  readonly runtime: Runtime
  readonly durability: 'full' | 'normal'
  /** Throws STORE_MOVED. Called after a commit, before anybody hears of it. */
  readonly checkPlace: () => void
  /** After a commit with a job that asked for it. */
  readonly wake: () => void
}

/**
 * The single way to write: jobs that wait at the same time share one immediate transaction (group commit),
 * so that an fsync is paid once for all of them.
 */
export class Writer {
  readonly #db: Database.Database
  readonly #path: string
  readonly #runtime: Runtime
  readonly #durability: 'full' | 'normal'
  readonly #checkPlace: () => void
  readonly #wake: () => void
  readonly #lock: WriteLock
  readonly #commit: Database.Statement
  #waiting: Job[] = []
  #scheduled = false
  /** The next transaction runs each job in a savepoint, since one of them failed. */
  #apart = false
  #synchronous: 'full' | 'normal'
  #closed = false
  #onIdle: (() => void) | undefined

  constructor(options: WriterOptions) {
    this.#db = options.db
    this.#path = options.path
    this.#runtime = options.runtime
    this.#durability = options.durability
    this.#checkPlace = options.checkPlace
    this.#wake = options.wake
    this.#synchronous = options.durability
    this.#commit = options.db.prepare('commit')
    this.#lock = new WriteLock(options.db, options.path, options.runtime)
  }

  readonly write: Write = (run, options = {}) =>
    new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new RmqError('IO_ERROR', `${this.#path}: the broker is closed`))
        return
      }
      this.#waiting.push({ run, options, resolve, reject, result: undefined, failed: false })
      this.#schedule()
    })

  /** Writes what waits; resolves when that is done. Later jobs are refused. */
  close(): Promise<void> {
    this.#closed = true
    if (!this.#scheduled) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onIdle = resolve
    })
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#runtime.defer(() => this.#flush())
  }

  #flush(): void {
    const jobs = this.#waiting.slice(0, JOBS_PER_TRANSACTION_MAX)
    try {
      this.#setSynchronous(jobs.some((job) => job.options.durable === true))
      if (!this.#lock.acquire()) {
        // Those who come meanwhile join the same transaction.
        this.#runtime.setTimer(BUSY_TURN_MS, () => this.#flush())
        return
      }
      if (this.#transact(jobs)) this.#settle(jobs)
    } catch (error) {
      const reason = storeError(error, this.#path)
      for (const job of this.#take(jobs)) job.reject(reason)
    }
    this.#scheduled = false
    if (this.#waiting.length > 0) this.#schedule()
    else this.#onIdle?.()
  }

  /**
   * Runs the jobs as if none could fail, which costs nothing. When one does, all is undone, and false says to run
   * them once more, each in a savepoint of its own. Throws when the transaction as a whole failed.
   */
  #transact(jobs: readonly Job[]): boolean {
    try {
      for (const job of jobs) {
        if (this.#apart) this.#runApart(job)
        else job.result = runJob(job)
      }
      this.#commit.run()
      this.#apart = false
      return true
    } catch (error) {
      // Out of space and the like end the transaction by themselves: there is nothing to try again.
      const undone = !this.#db.inTransaction
      if (!undone) this.#db.exec('rollback')
      if (undone || this.#apart) {
        this.#apart = false
        throw error
      }
      this.#apart = true
      return false
    } finally {
      this.#lock.released()
    }
  }

  #runApart(job: Job): void {
    this.#db.exec('savepoint job')
    try {
      job.result = runJob(job)
    } catch (error) {
      if (!this.#db.inTransaction) throw error
      this.#db.exec('rollback to job')
      job.result = error
      job.failed = true
    }
    this.#db.exec('release job')
  }

  #settle(jobs: readonly Job[]): void {
    this.#checkPlace()
    if (jobs.some((job) => job.options.wake === true && !job.failed)) this.#wake()
    for (const job of this.#take(jobs)) {
      if (job.failed) job.reject(storeError(job.result, this.#path))
      else job.resolve(job.result as never)
    }
  }

  #take(jobs: readonly Job[]): readonly Job[] {
    this.#waiting = this.#waiting.slice(jobs.length)
    return jobs
  }

  /** Not allowed within a transaction, hence before it. */
  #setSynchronous(durable: boolean): void {
    const wanted = durable ? this.#durability : 'normal'
    if (wanted === this.#synchronous) return
    this.#db.exec(`pragma synchronous = ${wanted}`)
    this.#synchronous = wanted
  }
}

function runJob(job: Job): unknown {
  const result = job.run()
  invariant(!(result instanceof Promise), 'a write job is synchronous: its transaction ends when it returns')
  return result
}
