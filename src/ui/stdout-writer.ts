import { closeSync, constants, fstatSync, openSync, writev, writevSync } from 'node:fs'
import { ReaderGone } from './output.ts'

/** Buffers of one system call, and bytes after which no more are added to it. */
const BUFFERS_PER_WRITE_MAX = 256
const BYTES_PER_WRITE_MAX = 256 * 1024
/** Pauses while the reader is behind and the pipe is full: they double from the first to the second. */
const FULL_PIPE_MS_MIN = 1
const FULL_PIPE_MS_MAX = 20

interface Waiting {
  readonly bytes: Buffer
  /** How many of them the system has taken. */
  taken: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Writes bytes; answers how many were taken, 0 when there is no room now. Throws what the system says. */
type WriteSome = (buffers: readonly Uint8Array[]) => number | Promise<number>

/**
 * stdout where it matters which record was taken: the promise of a record resolves when the system has all of its
 * bytes, and rejects with `ReaderGone` when the reader left before. Records that wait at the same time share a
 * system call.
 *
 * Not `process.stdout`: it reports the records that it writes together as one, all or none, and on a terminal it
 * blocks the process while the terminal is stopped, so that locks would not be renewed.
 */
export class StdoutWriter {
  readonly #target: Target
  readonly #waiting: Waiting[] = []
  #closed: Error | undefined
  #running: Promise<void> | undefined
  #cancelPause: (() => void) | undefined

  constructor(fd = 1) {
    this.#target = openTarget(fd)
  }

  /** Resolves when the system has taken all of `bytes`. Order is the order of the calls. */
  write(bytes: Buffer): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closed)
    if (bytes.length === 0) return Promise.resolve()
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes, taken: 0, resolve, reject })
    })
    this.#running ??= this.#run()
    return written
  }

  /** The reader went away. */
  get isReaderGone(): boolean {
    return this.#closed instanceof ReaderGone
  }

  /** Resolves when nothing waits any more, written or not. */
  async flushed(): Promise<void> {
    await this.#running
  }

  /** Gives up on what waits: nobody may think that it was written. Later writes are refused too. */
  abandon(reason: Error): void {
    this.#closed ??= reason
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closed)
    this.#cancelPause?.()
  }

  /** Waits for what was handed in, then lets go of stdout. */
  async close(): Promise<void> {
    await this.#running
    this.abandon(new Error('stdout was closed'))
    this.#target.close()
  }

  /** Ends when nothing waits: whoever writes then starts it again. */
  async #run(): Promise<void> {
    let pauseMs = FULL_PIPE_MS_MIN
    while (this.#waiting.length > 0) {
      // What is written in one turn of the event loop goes out together, and timers get their turn.
      await new Promise((resolve) => setImmediate(resolve))
      try {
        const taken = await this.#target.writeSome(this.#nextBuffers())
        if (taken > 0) {
          this.#settle(taken)
          pauseMs = FULL_PIPE_MS_MIN
        } else {
          await this.#pause(pauseMs)
          pauseMs = Math.min(pauseMs * 2, FULL_PIPE_MS_MAX)
        }
      } catch (error) {
        this.abandon(asFailure(error))
      }
    }
    this.#running = undefined
  }

  #nextBuffers(): Uint8Array[] {
    const buffers: Uint8Array[] = []
    let size = 0
    for (const { bytes, taken } of this.#waiting) {
      buffers.push(taken === 0 ? bytes : bytes.subarray(taken))
      size += bytes.length - taken
      if (buffers.length >= BUFFERS_PER_WRITE_MAX || size >= BYTES_PER_WRITE_MAX) break
    }
    return buffers
  }

  #settle(taken: number): void {
    let left = taken
    let done = 0
    for (const one of this.#waiting) {
      const part = Math.min(left, one.bytes.length - one.taken)
      one.taken += part
      left -= part
      if (one.taken < one.bytes.length) break
      one.resolve()
      done++
    }
    this.#waiting.splice(0, done)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#cancelPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

interface Target {
  readonly writeSome: WriteSome
  readonly close: () => void
}

/**
 * A pipe or terminal is opened once more without blocking: then a write that finds no room says so at once, and a
 * stopped reader holds up nothing, not even the end of the process (which would wait for a thread inside a write).
 * The flag of `fd` itself is left alone: other processes may share it. Files and sockets take the thread pool.
 */
function openTarget(fd: number): Target {
  const stat = fstatSync(fd)
  if (stat.isFIFO() || stat.isCharacterDevice()) {
    try {
      const own = openSync(
        `/proc/self/fd/${fd}`,
        constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
      )
      return { writeSome: (buffers) => orFull(() => writevSync(own, buffers)), close: () => closeSync(own) }
    } catch {
      // No /proc, or a terminal that may not be opened: the thread pool does it.
    }
  }
  return { writeSome: (buffers) => writeInPool(fd, buffers), close: () => {} }
}

function orFull(write: () => number): number {
  try {
    return write()
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return 0
    throw error
  }
}

function writeInPool(fd: number, buffers: readonly Uint8Array[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, [...buffers], (error, taken) => {
      if (!error) resolve(taken)
      else if (error.code === 'EAGAIN') resolve(0)
      else reject(error)
    })
  })
}

function asFailure(error: unknown): Error {
  if (codeOf(error) === 'EPIPE') return new ReaderGone('the reader of stdout went away')
  return error instanceof Error ? error : new Error(String(error))
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
