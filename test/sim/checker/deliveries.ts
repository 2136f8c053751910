import type { MessageExt } from '../../../src/core/model/message.ts'
import { hold } from '../broken-invariant.ts'
import type { SimProcess } from '../process.ts'
import type { SimWorld } from '../world.ts'
import {
  bump,
  type GroupQueue,
  isWanted,
  lastTenureOf,
  nextOpen,
  placeName,
  positionKey,
  type Run,
  type RunEnd,
} from './model.ts'

/** Invariants 2, 3 and 4: which handler runs start, in which order, and beside which others. */
export class Deliveries {
  readonly #world: SimWorld

  constructor(world: SimWorld) {
    this.#world = world
  }

  begin(place: GroupQueue, process: SimProcess, messages: readonly MessageExt[], attempt: number): Run {
    const offsets = messages.map(({ queueOffset }) => queueOffset)
    const replay = messages[0]?.redelivery?.replay ?? 0
    const tenure = place.tenure?.process === process ? place.tenure : undefined
    const keys = offsets.map((offset) => positionKey(offset, replay))
    const isStored = keys.every((key) => place.announced.get(key) === process)
    const lastTenure = lastTenureOf(place, process)
    const run: Run = { process, place, offsets, replay, tenure, lastTenure, isStored, end: undefined }
    this.#say(run, `starts, attempt ${attempt}`)
    this.#checkNeighbours(run)
    if (!tenure) this.#checkLateStart(run)
    else if (replay > 0) this.#checkReplay(run, messages)
    else this.#checkOrder(run)
    if (replay === 0) this.#checkGaps(run)
    this.#checkAttempt(run, attempt)
    for (const key of keys) {
      if (!isStored) bump(place.charges, key)
      place.announced.delete(key)
      place.runs.set(key, [...(place.runs.get(key) ?? []), run])
    }
    if (replay === 0) for (const offset of offsets) place.begun.add(offset)
    place.active.add(run)
    return run
  }

  end(run: Run, end: RunEnd): void {
    run.end = end
    run.place.active.delete(run)
    this.#say(run, `ends: ${end}`)
    if (end === 'success' && run.replay === 0)
      for (const offset of run.offsets) run.tenure?.settled.add(offset)
  }

  /** Two runs at once: only where one of them lost its lock while it lived. */
  #checkNeighbours(run: Run): void {
    for (const other of run.place.active) {
      const isExcused = [run, other].some(({ lastTenure }) => isLostAlive(lastTenure?.lostBy))
      const what = () =>
        `${placeName(run.place)}: ${run.process.name} starts ${run.offsets} while ${other.process.name} is at ${other.offsets}`
      hold(other.process !== run.process, 3, what)
      hold(isExcused, 4, what)
    }
  }

  /** Without the lock a handler starts only where the lease ran out between its last look and the start. */
  #checkLateStart(run: Run): void {
    const { process, lastTenure } = run
    const loss = lastTenure?.lostBy
    const what = () =>
      `${placeName(run.place)}: ${process.name} starts ${run.offsets} without the lock (${loss ?? 'it never had it'})`
    hold(isLostAlive(loss), 4, what)
    if (loss !== 'expired' || !lastTenure) return
    const isExcused = process.stoodStillSince(lastTenure.leaseEnd - lastTenure.ttlMs)
    hold(isExcused, 4, () => `${what()}, and it never stood still`)
  }

  #checkOrder({ place, offsets, tenure }: Run): void {
    const { committed = 0 } = place
    let expected = nextOpen(place, tenure, committed)
    for (const offset of offsets) {
      const what = (why: string) => () => `${placeName(place)}: ${offset} starts, ${why}`
      hold(offset >= committed, 2, what(`but ${committed} is committed`))
      hold(!tenure?.settled.has(offset), 2, what('but it is done'))
      hold(!place.deadLetters.has(offset), 7, what('but it is a dead letter'))
      hold(offset <= expected, 3, what(`but ${expected} is open`))
      hold(offset === expected, 2, what(`but ${expected} is next`))
      expected = nextOpen(place, tenure, offset + 1)
    }
  }

  #checkGaps({ place, offsets }: Run): void {
    for (let offset = 0; offset < (offsets[0] ?? 0); offset++) {
      const wasPassed = place.begun.has(offset) || !isWanted(place.group, place.queue.messages[offset])
      hold(wasPassed, 2, () => `${placeName(place)}: ${offsets[0]} starts, but ${offset} never did`)
    }
  }

  #checkReplay({ place, offsets, replay }: Run, messages: readonly MessageExt[]): void {
    for (const [i, offset] of offsets.entries()) {
      const letter = place.deadLetters.get(offset)
      const isWaiting = letter?.state === 'replayed' && letter.isSettled === 0 && letter.replays === replay
      const what = () =>
        `${placeName(place)}: replay ${replay} of ${offset} starts, but does not wait in the lane`
      hold(isWaiting && letter.id === messages[i]?.redelivery?.deadLetterId, 8, what)
      hold(i === 0 || offset > (offsets[i - 1] ?? 0), 2, () => `replays ${offsets} are not in their order`)
    }
  }

  /** Attempts go on where they were, through crashes and changes of owner. */
  #checkAttempt({ place, offsets, replay, tenure, isStored }: Run, attempt: number): void {
    const most = place.group.maxReconsumeTimes
    const name = placeName(place)
    hold(most < 0 || attempt <= most + 1, 3, () => `${name}: attempt ${attempt} of at most ${most + 1}`)
    if (!tenure) return
    for (const offset of offsets) {
      const counted = place.counted.get(positionKey(offset, replay)) ?? 0
      const expected = counted + (isStored ? 0 : 1)
      hold(
        attempt === expected,
        3,
        () => `${name}: ${offset} starts as attempt ${attempt}; it is number ${expected}`,
      )
    }
  }

  #say({ process, place, offsets, replay, tenure }: Run, what: string): void {
    const lane = replay > 0 ? ` replay ${replay}` : ''
    const late = tenure ? '' : ' WITHOUT THE LOCK'
    this.#world.say(`${process.name} handler ${placeName(place)} ${offsets}${lane} ${what}${late}`)
  }
}

function isLostAlive(loss: string | undefined): boolean {
  return loss === 'expired' || loss === 'forced'
}
