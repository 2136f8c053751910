import { type AuditedDelivery, type JournaledQueue, TRAITS } from './deliveries.ts'
import type { AuditScope } from './scope.ts'

/** Gaps that are looked into of one owner: a journal with more needs no longer list. */
const GAPS_MAX = 1000

/** A message that was started and is not settled. */
interface OpenRun {
  readonly offset: number
  readonly run: number
  readonly key: string | null
  readonly isStored: boolean
}

/** What one owner of the queue did, under one epoch. */
interface Owner {
  readonly epoch: number
  /** Every gap between its first deliveries is its own: it went on where the owner before it ended, which we saw. */
  readonly follows: boolean
  readonly started: Set<number>
  /** Highest offset that was started, of the queue or of each key. */
  readonly highest: Map<string, number>
  readonly open: Map<string, OpenRun>
  /** Offsets between two first deliveries, both ends excluded. */
  readonly gaps: [after: number, before: number][]
  /** Traits of what was delivered. */
  readonly passed: Set<string>
}

/** Goes through the journal of a queue, delivery by delivery, and says what may not happen in that order. */
export class DeliveryReplay {
  readonly #scope: AuditScope
  readonly #queue: JournaledQueue
  readonly #owners = new Map<string, Owner>()
  /** Offsets with any record: whatever happened to them, they were not passed over. */
  readonly #recorded = new Set<number>()
  /** Epochs that were kept in order as a whole. */
  readonly #epochs = new Set<number>()
  #newestEpoch = 0

  constructor(scope: AuditScope, queue: JournaledQueue) {
    this.#scope = scope
    this.#queue = queue
  }

  add(delivery: AuditedDelivery): void {
    const { offset, replay, event, ordering } = delivery
    this.#recorded.add(offset)
    const owner = this.#ownerOf(delivery)
    if (event !== 'started') {
      owner.open.delete(`${offset}:${replay}`)
      return
    }
    this.#checkEpoch(delivery)
    if (ordering === 'none') return
    this.#checkOpen(owner, delivery)
    if (replay === 0 && !owner.started.has(offset)) this.#firstStart(owner, delivery)
  }

  /** What only shows when everything was seen. */
  end(): void {
    for (const owner of this.#owners.values()) {
      if (owner.follows) this.#checkGaps(owner)
    }
  }

  #ownerOf({ clientId, epoch, ordering }: AuditedDelivery): Owner {
    const id = `${epoch}:${clientId}`
    let owner = this.#owners.get(id)
    if (owner === undefined) {
      // What an owner that we did not see had done ahead of its offset cannot be told from what was passed over.
      const follows = ordering === 'queue' && (epoch === 1 || this.#epochs.has(epoch - 1))
      owner = {
        epoch,
        follows,
        started: new Set(),
        highest: new Map(),
        open: new Map(),
        gaps: [],
        passed: new Set(),
      }
      this.#owners.set(id, owner)
      if (ordering === 'queue') this.#epochs.add(epoch)
    }
    return owner
  }

  /** Invariant 4. Where a lock was taken from a living owner, or ran out under it, that one may have been at work. */
  #checkEpoch({ offset, epoch, clientId }: AuditedDelivery): void {
    const { predecessor } = this.#queue
    if (epoch >= this.#newestEpoch) {
      this.#newestEpoch = epoch
      return
    }
    if (this.#newestEpoch !== this.#queue.epoch || predecessor === 'expired' || predecessor === 'forced')
      return
    this.#violation(
      4,
      offset,
      `started by ${clientId} under epoch ${epoch}, after a start under epoch ${this.#newestEpoch}`,
    )
  }

  /** Invariant 3: nothing starts while another run of its queue, or of its key, is not settled. */
  #checkOpen(owner: Owner, { offset, replay, run, ordering, key, isStored }: AuditedDelivery): void {
    for (const [id, other] of owner.open) {
      if (other.run === run) continue
      if (ordering === 'key' && (!isStored || !other.isStored || other.key !== key)) continue
      // One report for each.
      owner.open.delete(id)
      if (other.offset !== offset)
        this.#violation(3, offset, `started before offset ${other.offset} was settled`)
      else this.#violation(3, offset, 'started again before its run was settled')
    }
    owner.open.set(`${offset}:${replay}`, { offset, run, key, isStored: isStored === 1 })
  }

  /** Invariant 2: first deliveries ascend. */
  #firstStart(owner: Owner, { offset, ordering, key, isStored, traits }: AuditedDelivery): void {
    owner.started.add(offset)
    if (isStored) owner.passed.add(traits)
    else if (ordering === 'key') return
    const line = ordering === 'key' ? `key ${JSON.stringify(key)}` : 'queue'
    const before = owner.highest.get(line)
    if (before !== undefined && offset < before) {
      this.#violation(2, offset, `first delivered after offset ${before} of its ${line}`)
      return
    }
    if (before !== undefined && offset > before + 1 && owner.gaps.length < GAPS_MAX) {
      owner.gaps.push([before, offset])
    }
    owner.highest.set(line, offset)
  }

  /** Invariant 2: they are gap-free, but for what the filter dropped. */
  #checkGaps({ epoch, gaps, passed }: Owner): void {
    const { groupId, queueRow } = this.#queue
    const between = this.#scope.db.prepare<
      [number, number, number, number],
      { offset: number; traits: string }
    >(
      `select m.offset, ${TRAITS} as traits from message_${queueRow} m
       where m.offset > ? and m.offset < ?
         and not exists (select 1 from dead_letter d where d.group_id = ? and d.queue_row = ? and d.offset = m.offset)`,
    )
    for (const [after, before] of gaps) {
      for (const { offset, traits } of between.iterate(after, before, groupId, queueRow)) {
        if (this.#recorded.has(offset) || !passed.has(traits)) continue
        this.#violation(
          2,
          offset,
          `never delivered under epoch ${epoch}, where offsets ${after} and ${before} were`,
        )
      }
    }
  }

  #violation(invariant: number, offset: number, detail: string): void {
    const { topic, queueId, group } = this.#queue
    this.#scope.add({ invariant, topic, queueId, group, offset, detail })
  }
}
