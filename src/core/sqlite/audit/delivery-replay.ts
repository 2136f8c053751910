import type { AuditedDelivery, JournaledQueue } from './deliveries.ts'
import type { AuditScope } from './scope.ts'

/** What has to run one after the other: a queue, or a key of it. */
interface Line {
  /** The last start. */
  run: number
  offset: number
  /** The highest first offset of a run of live messages that were never tried before. */
  highest: number
}

/** A message that was started. */
interface Start {
  readonly run: number
  readonly attempt: number
  readonly line: Line
}

/** What one owner of the queue did, under one epoch. */
interface Owner {
  readonly lines: Map<string, Line>
  readonly starts: Map<string, Start>
  /** Messages that left the queue for good. */
  readonly gone: Map<string, string>
}

/** The only line of a queue that is kept in order as a whole. */
const WHOLE_QUEUE = ''

/**
 * Goes through the journal of a queue, and says what may not happen in that order. A journal has holes: the oldest
 * records are removed, and what could not be written in time is missing. So nothing follows from a record that is
 * not there; each violation is shown by records that are. One client writes in the order in which things happen.
 */
export class DeliveryReplay {
  readonly #scope: AuditScope
  readonly #queue: JournaledQueue
  readonly #owners = new Map<string, Owner>()
  readonly #clientOf = new Map<number, string>()
  /** A start under the epoch of the lock as it is now was seen. */
  #isAtLockEpoch = false

  constructor(scope: AuditScope, queue: JournaledQueue) {
    this.#scope = scope
    this.#queue = queue
  }

  add(delivery: AuditedDelivery): void {
    // Without a lock (broadcasting) a client that starts again goes on under the same name.
    if (delivery.epoch === 0) return
    const owner = this.#ownerOf(delivery)
    if (delivery.event === 'started') this.#started(owner, delivery)
    else this.#ended(owner, delivery)
  }

  #ownerOf({ clientId, epoch, offset }: AuditedDelivery): Owner {
    const id = `${epoch}:${clientId}`
    let owner = this.#owners.get(id)
    if (owner === undefined) {
      owner = { lines: new Map(), starts: new Map(), gone: new Map() }
      this.#owners.set(id, owner)
      const other = this.#clientOf.get(epoch)
      if (other === undefined) this.#clientOf.set(epoch, clientId)
      else this.#violation(9, offset, `delivered by ${clientId} under epoch ${epoch}, which is ${other}'s`)
    }
    return owner
  }

  #started(owner: Owner, delivery: AuditedDelivery): void {
    this.#checkEpoch(delivery)
    const { offset, replay, run, attempt } = delivery
    const id = `${offset}:${replay}`
    const gone = owner.gone.get(id)
    if (gone !== undefined) {
      owner.gone.delete(id)
      this.#violation(7, offset, `started after it was ${gone}, by the same owner`)
    }
    const name = lineOf(delivery)
    if (name === undefined) return
    this.#scope.count('startsInOrder', 1)
    const line = owner.lines.get(name) ?? { run, offset, highest: -1 }
    owner.lines.set(name, line)
    this.#checkAscending(line, delivery)
    line.run = run
    line.offset = offset
    owner.starts.set(id, { run, attempt, line })
  }

  /**
   * Invariant 4. A late start under the epoch before the lock's: its owner gave the lock back, or was dead. Where the
   * lock was taken from a living owner, or ran out under it, that one may have been at work.
   */
  #checkEpoch({ offset, epoch, clientId }: AuditedDelivery): void {
    const { epoch: lockEpoch, predecessor } = this.#queue
    if (epoch === lockEpoch) this.#isAtLockEpoch = true
    if (!this.#isAtLockEpoch || epoch + 1 !== lockEpoch) return
    if (predecessor !== 'released' && predecessor !== 'dead') return
    this.#violation(
      4,
      offset,
      `started by ${clientId} under epoch ${epoch}, after a start under epoch ${lockEpoch}`,
    )
  }

  /**
   * Invariant 2: first deliveries ascend. Only first offsets of runs are compared: a batch that could not be settled
   * is started again, maybe a smaller one. Of a run whose beginning was removed the first is not known.
   */
  #checkAscending(line: Line, { id, offset, replay, run, attempt, ordering }: AuditedDelivery): void {
    if (id !== run || replay > 0 || attempt > 1) return
    if (offset >= line.highest) line.highest = offset
    else this.#violation(2, offset, `first delivered after offset ${line.highest} of its ${ordering}`)
  }

  #ended(owner: Owner, { offset, replay, event, attempt }: AuditedDelivery): void {
    const id = `${offset}:${replay}`
    const start = owner.starts.get(id)
    owner.starts.delete(id)
    // The other ends need no run: what is parked or has no attempt left is not started.
    const isOfRun = event === 'succeeded' || event === 'failed' || event === 'sent-back'
    if (isOfRun && start?.attempt === attempt && start.line.run > start.run) {
      this.#violation(
        3,
        start.line.offset,
        `started while offset ${offset} was running, which was started before`,
      )
    }
    if (event === 'sent-back' || event === 'dead-lettered' || event === 'parked') owner.gone.set(id, event)
    // Held ones go back with it (a rollback), or it is taken again as if nothing had happened.
    if (event === 'failed' || event === 'released') {
      for (const line of start ? [start.line] : owner.lines.values()) line.highest = -1
    }
  }

  #violation(invariant: number, offset: number, detail: string): void {
    const { topic, queueId, group } = this.#queue
    this.#scope.add({ invariant, topic, queueId, group, offset, detail })
  }
}

/** `undefined`: nothing keeps it in order, or its key is not known any more. */
function lineOf({ ordering, isStored, key }: AuditedDelivery): string | undefined {
  if (ordering === 'queue') return WHOLE_QUEUE
  // Messages without a key are kept in order among themselves.
  return ordering === 'key' && isStored === 1 ? (key ?? '') : undefined
}
