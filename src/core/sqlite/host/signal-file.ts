import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs'
import type { WakeUp } from '../host.ts'

const MARK = Buffer.from('x')

/** Made only when missing; never through a planted link, and never waiting for the reader of a planted FIFO. */
const OPEN_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Wake-up through a file of one byte beside the database: a writer writes it after each commit, waiting processes
 * watch it. Watching the write-ahead log was rejected: its event may come before the commit can be seen.
 *
 * Advisory through and through: whatever fails here (no right to write, no inotify, a file removed under our feet)
 * fails in silence, because every waiting process polls as well.
 */
export class SignalFile implements WakeUp {
  readonly #path: string
  readonly #listeners = new Set<() => void>()
  #fd: number | undefined
  #watcher: FSWatcher | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  touch(): void {
    try {
      const fd = this.#open()
      if (fd !== undefined) writeSync(fd, MARK, 0, 1, 0)
    } catch {
      // The poll's job.
    }
  }

  watch(listener: () => void): () => void {
    if (this.#isClosed) return () => {}
    // Of its own, so that one function given twice is two listeners and ends twice.
    const own = () => listener()
    this.#listeners.add(own)
    this.#startWatching()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.#stopWatching()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    this.#stopWatching()
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #open(): number | undefined {
    if (this.#isClosed) return undefined
    this.#fd ??= openSync(this.#path, OPEN_FLAGS, 0o600)
    return this.#fd
  }

  #startWatching(): void {
    if (this.#watcher !== undefined) return
    try {
      this.#open()
      // Not persistent: waiting for others is no reason for a process to stay.
      const watcher = watch(this.#path, { persistent: false }, (event) => this.#onEvent(watcher, event))
      watcher.on('error', () => this.#giveUp(watcher))
      this.#watcher = watcher
    } catch {
      // The poll's job.
    }
  }

  #onEvent(watcher: FSWatcher, event: string): void {
    if (watcher !== this.#watcher) return
    // The file was removed or replaced: this watcher would stay with the old one for ever.
    if (event === 'rename') this.#giveUp(watcher)
    for (const listener of [...this.#listeners]) listener()
  }

  #giveUp(watcher: FSWatcher): void {
    if (watcher !== this.#watcher) return
    this.#stopWatching()
  }

  #stopWatching(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }
}
