import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { RmqError } from '../model/errors.ts'

const PIPE_BYTES = 64 * 1024

/**
 * The stdin of a child, of which the unread rest can be had back. Node connects a child by a socket, and what its
 * reader left there is gone with it; a pipe keeps it as long as somebody holds its other end. So the records that a
 * child never saw can be told from those that it read.
 */
export class InputPipe {
  /** What the child reads from. */
  readonly childEnd: number
  readonly stdin: Writable
  readonly #socket: Socket
  /** A second writing end: it outlives the stream, which closes itself when nobody reads any more. */
  #spare: number | undefined
  #isChildEndOpen = true

  /** HANDLER_FAILED when there can be none. */
  static async create(): Promise<InputPipe> {
    try {
      const folder = mkdtempSync(join(tmpdir(), 'rmq-'))
      try {
        const path = join(folder, 'stdin')
        await promisify(execFile)('mkfifo', ['-m', '600', path])
        return new InputPipe(path)
      } finally {
        // It works on without a name, and nobody else can open it.
        rmSync(folder, { recursive: true, force: true })
      }
    } catch (error) {
      throw new RmqError('HANDLER_FAILED', 'no pipe could be made for the handler', {
        why: error instanceof Error ? error.message : String(error),
        hint: `mkfifo has to be installed and to work in ${tmpdir()}; TMPDIR chooses another folder`,
        cause: error,
      })
    }
  }

  private constructor(path: string) {
    // Opened for both first: to open one end alone waits for the other.
    const both = openSync(path, constants.O_RDWR)
    this.childEnd = openSync(path, constants.O_RDONLY)
    this.#spare = openSync(path, constants.O_WRONLY)
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
    closeSync(both)
    this.#socket = new Socket({ fd, readable: false, writable: true })
    this.stdin = this.#socket
  }

  /** Once the child has it: with a reader here, nobody would notice that the child closed it. */
  closeChildEnd(): void {
    if (this.#isChildEndOpen) closeSync(this.childEnd)
    this.#isChildEndOpen = false
  }

  /** The child sees the end of its input behind what was written so far. */
  end(): void {
    if (!this.#socket.writableEnded) this.#socket.end()
    this.#closeSpare()
  }

  /** Ends it at once, and answers what was in it and was read by nobody; nobody can read that any more. */
  takeBack(): Buffer {
    this.#socket.destroy()
    const rest = this.#spare === undefined ? Buffer.alloc(0) : unreadOf(this.#spare)
    this.#closeSpare()
    return rest
  }

  #closeSpare(): void {
    if (this.#spare !== undefined) closeSync(this.#spare)
    this.#spare = undefined
  }
}

/** Empty where a pipe cannot be opened by its descriptor (only Linux can): then nothing is known to be unread. */
function unreadOf(writingEnd: number): Buffer {
  const parts: Buffer[] = []
  try {
    const fd = openSync(`/proc/self/fd/${writingEnd}`, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      for (;;) {
        const part = Buffer.alloc(PIPE_BYTES)
        const size = readSync(fd, part)
        if (size === 0) break
        parts.push(part.subarray(0, size))
      }
    } finally {
      closeSync(fd)
    }
  } catch {
    // Read to its end (EAGAIN, as a writing end is still open), or not to be had.
  }
  return Buffer.concat(parts)
}
