import type { LockHolder } from '../model/lock.ts'
import type { LostBy } from './tables/queue-locks.ts'

/** What is known of a lock's owner. */
export interface OwnerView {
  /**
   * `dead`: both witnesses say so. `handler-running`: the same, but its handler is provably still at work.
   * `unproven`: they contradict each other.
   */
  readonly state: 'alive' | 'dead' | 'handler-running' | 'unproven'
  /** Zero or less: the lease has ended. */
  readonly leaseLeftMs: number
}

/** A lock as it is found. */
export interface LockEntry {
  readonly epoch: number
  /** `null`: free. */
  readonly clientId: string | null
  /** Of a free one: how its owner lost it; `null`: it gave it back. */
  readonly lostBy: LostBy | null
}

export type LockDecision =
  | {
      readonly kind: 'grant'
      readonly epoch: number
      readonly predecessor: 'none' | 'released' | 'dead' | 'expired' | 'forced'
    }
  | { readonly kind: 'renew'; readonly epoch: number }
  | { readonly kind: 'refuse'; readonly state: LockHolder['state'] }

/**
 * The table of RocketMQ's `RebalanceLockManager.tryLock`, with epochs and proofs of death added:
 *
 * | entry                        | lease | answer                 |
 * |------------------------------|-------|------------------------|
 * | none                         |       | grant, epoch 1         |
 * | free                         |       | grant, next epoch      |
 * | mine                         | any   | renew, same epoch      |
 * | other, dead                  | any   | grant, next epoch      |
 * | other, alive or unproven     | runs  | refuse                 |
 * | other, dead, handler at work | runs  | refuse                 |
 * | other, any                   | ended | grant, next epoch      |
 *
 * `viewOwner` is asked only about another owner: looking costs a probe.
 */
export function decideLock(
  entry: LockEntry | undefined,
  clientId: string,
  viewOwner: (owner: string) => OwnerView,
): LockDecision {
  if (entry === undefined) return { kind: 'grant', epoch: 1, predecessor: 'none' }
  const epoch = entry.epoch + 1
  if (entry.clientId === null) return { kind: 'grant', epoch, predecessor: entry.lostBy ?? 'released' }
  if (entry.clientId === clientId) return { kind: 'renew', epoch: entry.epoch }
  const owner = viewOwner(entry.clientId)
  if (owner.state === 'dead') return { kind: 'grant', epoch, predecessor: 'dead' }
  if (owner.leaseLeftMs > 0) return { kind: 'refuse', state: owner.state }
  return { kind: 'grant', epoch, predecessor: owner.state === 'handler-running' ? 'dead' : 'expired' }
}
