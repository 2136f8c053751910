import type { MessageQueue } from './message-queue.ts'

/** Which process a client is, in a form that another process can check. */
export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** The boot of the host: a pid or a monotonic time says nothing across boots. */
  readonly bootId: string
  /** The pid namespace: equal pids of two containers are two processes. */
  readonly pidNamespace: string
  /** The kernel's start time of the process: pids are used again. */
  readonly startTime: string
}

/** A handler's process: it may outlive the client that started it. */
export interface HandlerProcess {
  readonly pid: number
  readonly startTime: string
}

/** How the lock came to its new owner; `same` is a renewal. */
export type LockPredecessor = 'none' | 'released' | 'same' | 'dead' | 'expired' | 'forced'

/** Whether a message may have been in work when the lock changed hands. */
export function isUnclean(predecessor: LockPredecessor): boolean {
  return predecessor === 'dead' || predecessor === 'expired' || predecessor === 'forced'
}

/** The answer to one queue of `lockBatch`. */
export type LockGrant =
  | {
      readonly mq: MessageQueue
      readonly granted: true
      /** Raised at every change of owner; 0 where the broker has no fencing. */
      readonly epoch: number
      readonly predecessor: LockPredecessor
      /** Offsets below this one may have been started by an owner that died: go carefully. 0 when none. */
      readonly carefulUntil: number
    }
  | {
      readonly mq: MessageQueue
      readonly granted: false
      readonly holder: LockHolder | null
    }

/** Who is in the way, as far as the broker knows. */
export interface LockHolder {
  readonly clientId: string
  readonly pid: number
  readonly host: string
  /** `alive`, `dead` with its handler still running, or `unproven` when the witnesses contradict each other. */
  readonly state: 'alive' | 'handler-running' | 'unproven'
  /** Milliseconds until the lease ends. */
  readonly expiresInMs: number
}

/** One lock, as `locks list` shows it. */
export interface QueueLock {
  readonly mq: MessageQueue
  readonly group: string
  readonly clientId: string
  readonly pid: number
  readonly host: string
  readonly alive: boolean
  readonly epoch: number
  /** How it came to its owner; only `none` and `released` are clean. */
  readonly predecessor: LockPredecessor
  /** Wall clock, milliseconds since the epoch. */
  readonly acquiredAt: number
  readonly renewedAt: number
  readonly expiresAt: number
  readonly state: 'held' | 'expired' | 'dead'
}
