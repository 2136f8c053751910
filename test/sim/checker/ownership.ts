import { hold } from '../broken-invariant.ts'
import type { SimProcess } from '../process.ts'
import type { LockState } from '../store-view.ts'
import type { SimWorld } from '../world.ts'
import { type GroupQueue, type Loss, placeName, type Tenure } from './model.ts'

/** Invariant 9, and the part of 4 that lies in the locks: who owns a queue, since when, and how it was lost. */
export class Ownership {
  readonly #world: SimWorld

  constructor(world: SimWorld) {
    this.#world = world
  }

  observe(place: GroupQueue, lock: LockState, actor: SimProcess | undefined): void {
    const { tenure } = place
    hold(
      lock.epoch >= place.epoch,
      9,
      () => `${placeName(place)}: epoch fell ${place.epoch} -> ${lock.epoch}`,
    )
    if (lock.clientId === null) {
      if (tenure) this.#freed(place, tenure, lock, actor)
    } else {
      const owner = this.#processOf(place, lock)
      if (tenure?.epoch === lock.epoch) this.#renewed(place, tenure, lock, owner)
      else this.#granted(place, lock, owner, actor)
    }
    place.epoch = lock.epoch
  }

  #processOf(place: GroupQueue, { pid, startTime, clientId }: LockState): SimProcess {
    const { processes } = this.#world
    const owner = processes.find(({ identity }) => identity.pid === pid && identity.startTime === startTime)
    hold(owner, 9, () => `${placeName(place)}: owner ${clientId} is no process that ever was`)
    return owner
  }

  #renewed(place: GroupQueue, tenure: Tenure, lock: LockState, owner: SimProcess): void {
    const who = () =>
      `${placeName(place)}: epoch ${lock.epoch} went from ${tenure.process.name} to ${owner.name}`
    hold(owner === tenure.process, 9, who)
    if (lock.expiresMono === tenure.expiresMono) return
    tenure.expiresMono = lock.expiresMono
    tenure.leaseEnd = this.#world.monotonic() + lock.ttlMs
  }

  #granted(place: GroupQueue, lock: LockState, owner: SimProcess, actor: SimProcess | undefined): void {
    const what = () => `${placeName(place)}: ${owner.name} got epoch ${lock.epoch}`
    hold(lock.epoch > place.epoch, 9, () => `${what()}, which was given before`)
    hold(owner === actor, 9, () => `${what()} by an act of ${actor?.name}`)
    const { tenure } = place
    if (tenure) this.#lost(place, tenure, this.#takeoverFrom(place, tenure, owner))
    this.#world.say(`${what()}${tenure ? ` after ${tenure.process.name}: ${tenure.lostBy}` : ''}`)
    place.tenure = {
      process: owner,
      epoch: lock.epoch,
      ttlMs: lock.ttlMs,
      expiresMono: lock.expiresMono,
      leaseEnd: this.#world.monotonic() + lock.ttlMs,
      settled: new Set(),
      lostBy: undefined,
    }
  }

  #takeoverFrom(place: GroupQueue, tenure: Tenure, taker: SimProcess): Loss {
    const left = tenure.leaseEnd - this.#world.monotonic()
    const story = () =>
      `${placeName(place)}: ${taker.name} took the lock of ${tenure.process.name}, ${left.toFixed(1)} ms before its end`
    if (!tenure.process.isDead) {
      // Given back and taken again in one transaction.
      if (taker === tenure.process && !isAtWork(place, tenure)) return 'released'
      hold(left <= 0, 9, () => `${story()}, while its owner lives`)
      return 'expired'
    }
    hold(!isAtWork(place, tenure) || left <= 0, 4, () => `${story()}, while its handler still runs`)
    return 'dead'
  }

  #freed(place: GroupQueue, tenure: Tenure, lock: LockState, actor: SimProcess | undefined): void {
    const what = () => `${placeName(place)}: ${actor?.name} freed the lock of ${tenure.process.name}`
    if (lock.lostBy === null) {
      hold(actor === tenure.process, 9, () => `${what()}, which was not its own`)
      const runs = [...place.active].filter((run) => run.tenure === tenure)
      hold(runs.length === 0, 4, () => `${what()} while its handler is at ${runs.map((run) => run.offsets)}`)
      this.#lost(place, tenure, 'released')
      return
    }
    if (lock.lostBy === 'dead') hold(tenure.process.isDead, 9, () => `${what()} as dead; it lives`)
    if (lock.lostBy === 'expired') {
      const isOver = this.#world.monotonic() >= tenure.leaseEnd
      hold(isOver, 9, () => `${what()} as expired; its lease still runs`)
    }
    this.#lost(place, tenure, lock.lostBy as Loss)
  }

  #lost(place: GroupQueue, tenure: Tenure, loss: Loss): void {
    tenure.lostBy = loss
    place.pastTenures.push(tenure)
    place.tenure = undefined
    this.#world.say(`${placeName(place)}: ${tenure.process.name} lost epoch ${tenure.epoch}: ${loss}`)
  }
}

function isAtWork(place: GroupQueue, tenure: Tenure): boolean {
  return [...place.active].some((run) => run.tenure === tenure)
}
