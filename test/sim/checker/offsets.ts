import { hold } from '../broken-invariant.ts'
import type { SimProcess } from '../process.ts'
import type { SimWorld } from '../world.ts'
import { type GroupQueue, nextOpen, placeName } from './model.ts'

/** Invariants 6 and 7, and what 4 asks of late owners: where the committed offset goes, and by whom. */
export class Offsets {
  readonly #world: SimWorld

  constructor(world: SimWorld) {
    this.#world = world
  }

  /** `isStart`: the group had no offset in this queue. */
  observe(place: GroupQueue, committed: number, actor: SimProcess | undefined): void {
    const { committed: before } = place
    if (committed === before) return
    const what = () => `${placeName(place)}: committed offset ${before} -> ${committed} by ${actor?.name}`
    const max = place.queue.messages.length
    hold(committed <= max, 6, () => `${what()}, above the max offset ${max}`)
    if (before === undefined) {
      hold(committed <= place.queue.min, 6, () => `${what()}: it starts behind its first message`)
    } else {
      hold(committed > before, 6, what)
      this.#checkMove(place, before, committed, actor, what)
    }
    this.#world.say(what())
    place.committed = committed
  }

  #checkMove(
    place: GroupQueue,
    before: number,
    committed: number,
    actor: SimProcess | undefined,
    what: () => string,
  ): void {
    // A release may share the transaction with the commit before it.
    const last = place.pastTenures.at(-1)
    const owner = place.tenure?.process === actor ? place.tenure : last?.process === actor ? last : undefined
    const isOwner = owner !== undefined && (owner === place.tenure || owner.lostBy === 'released')
    hold(isOwner, 4, () => `${what()}, which does not own the queue`)
    const open = nextOpen(place, owner, before)
    hold(open >= committed, 7, () => `${what()}, but ${open} was neither consumed nor dead-lettered`)
  }
}
