import type { HandlerProcess, ProcessIdentity } from '../model/lock.ts'
import type { Runtime } from '../model/runtime.ts'

/**
 * What the embedded broker needs from the machine, beside SQLite. `host/` implements it on a real one;
 * the simulation implements it on a process set of its own.
 */
export interface Host {
  readonly runtime: Runtime
  readonly process: ProcessIdentity
  readonly liveness: Liveness
  readonly wakeUp: WakeUp
}

/** Proof of life through locks that the kernel drops when a process dies, however it dies. */
export interface Liveness {
  /**
   * Creates the file and takes its lock until `release` or the end of this process.
   * `undefined` when another process has it.
   */
  hold(path: string): LivenessHandle | undefined
  /** Whether a process holds the file's lock. A missing file is not held. About 0.06 ms. */
  isHeld(path: string): boolean
  /** The second witness: is that process there? `unseen`: another boot, host or pid namespace, so it cannot be told. */
  witness(process: ProcessIdentity): 'runs' | 'gone' | 'unseen'
  /** Whether a handler's process, or any process of its group, provably still runs. `owner` is the client that started it. */
  handlerRuns(owner: ProcessIdentity, handler: HandlerProcess): boolean
}

export interface LivenessHandle {
  /** Drops the lock and removes the file. */
  release(): void
}

/** How processes tell each other that something was committed. Advisory: who misses it finds out by polling. */
export interface WakeUp {
  touch(): void
  /** Calls `listener` after touches of any process. Returns a function that ends it. */
  watch(listener: () => void): () => void
  close(): void
}
