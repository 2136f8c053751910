import { RmqError } from '../model/errors.ts'
import type { Runtime } from '../model/runtime.ts'
import { type FileIdentity, fileIdentity } from './open-files.ts'

/** Between two looks a file that is written all the time may be gone without notice. */
const CHECK_AGAIN_MS = 1000

/**
 * Whether the file at the path is still the one that was opened. A file that was deleted, replaced or moved takes
 * writes without complaint, and nobody will ever read them.
 */
export class PlaceCheck {
  readonly #path: string
  readonly #opened: FileIdentity | undefined
  readonly #runtime: Runtime
  #checkedAt: number

  /** `opened` is `undefined` for a store in memory, which cannot move. */
  constructor(path: string, opened: FileIdentity | undefined, runtime: Runtime) {
    this.#path = path
    this.#opened = opened
    this.#runtime = runtime
    this.#checkedAt = runtime.monotonic()
  }

  /** Looks when the last look is a second old, hence after every pause. Throws STORE_MOVED, then at every call. */
  checkAfterPause(): void {
    const now = this.#runtime.monotonic()
    if (now - this.#checkedAt < CHECK_AGAIN_MS) return
    this.check()
    this.#checkedAt = now
  }

  check(): void {
    if (this.#opened === undefined) return
    const found = fileIdentity(this.#path)
    if (found === this.#opened) return
    throw new RmqError(
      'STORE_MOVED',
      `${this.#path}: the database file was moved, replaced or deleted while in use`,
      {
        why:
          found === undefined
            ? `there is no file any more (opened: device:inode ${this.#opened})`
            : `another file is there (opened: device:inode ${this.#opened}, found: ${found})`,
        hint: 'put the file back or restore it, then start this command again; what was sent last may be lost',
        details: { path: this.#path, opened: this.#opened, found: found ?? null },
      },
    )
  }
}
