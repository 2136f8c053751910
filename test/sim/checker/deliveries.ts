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
  type Tenure,
} from './model.ts'

/** Invariants 2, 3 and 4: which handler runs start, in which order, and beside which others. */
export class Deliveries {
  readonly #world: SimWorld

  constructor(world: SimWorld) {
    this.#world = world
  }

  begin(place: GroupQueue, process: SimProcess, messages: readonly MessageExt[], attempt: number): Run {
    const offsets = messages.map(({ queueOffset }) => queueOffset)
    const replays = messages.map(({ redelivery }) => redelivery?.replay ?? 0)
    const isLive = replays.every((replay) => replay === 0)
    const tenure = place.tenure?.process === process ? place.tenure : undefined
    const keys = offsets.map((offset, i) => positionKey(offset, replays[i] ?? 0))
    const isStored = keys.every((key) => place.announced.get(key) === process)
    const lastTenure = lastTenureOf(place, process)
    const run: Run = { process, place, offsets, replays, tenure, lastTenure, isStored, end: undefined }
    this.#say(run, `starts, attempt ${attempt}`)
    this.#checkNeighbours(run)
    if (!tenure) this.#checkLateStart(run)
    else if (isLive) this.#checkOrder(run)
    else this.#checkReplay(run, messages)
    if (isLive) this.#checkGaps(run)
    this.#checkAttempt(run, attempt)
    for (const key of keys) {
      if (!isStored) bump(place.charges, key)
      place.announced.delete(key)
      place.runs.set(key, [...(place.runs.get(key) ?? []), run])
    }
    if (isLive) for (const offset of offsets) place.begun.add(offset)
    place.active.add(run)
    return run
  }

  end(run: Run, end: RunEnd): void {
    run.end = end
    run.place.active.delete(run)
    this.#say(run, `ends: ${end}`)
    if (end === 'success' && run.replays.every((replay) => replay === 0))
      for (const offset of run.offsets) run.tenure?.settled.add(offset)
  }

  /** Two runs at once: only where one of them lost its lock while it lived, or outlived its owner and its lease. */
  #checkNeighbours(run: Run): void {
    for (const other of run.place.active) {
      const isExcused =
        this.#isOrphan(other) || [run, other].some(({ lastTenure }) => isLostAlive(lastTenure))
      const what = () =>
        `${placeName(run.place)}: ${run.process.name} starts ${run.offsets} while ${other.process.name} is at ${other.offsets}`
      hold(other.process !== run.process, 3, what)
      hold(isExcused, 4, what)
    }
  }

  /** A handler that outlives its dead owner holds the queue only to the end of the lease. */
  #isOrphan({ process, tenure }: Run): boolean {
    return process.isDead && tenure !== undefined && tenure.leaseEnd <= this.#world.monotonic()
  }

  /** Without the lock a handler starts only where the lease ran out between its last look and the start. */
  #checkLateStart(run: Run): void {
    const { process, lastTenure } = run
    const loss = lastTenure?.lostBy
    const what = () =>
      `${placeName(run.place)}: ${process.name} starts ${run.offsets} without the lock (${loss ?? 'it never had it'})`
    hold(isLostAlive(lastTenure), 4, what)
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
      const isDone = place.begun.has(offset) || place.deadLetters.has(offset)
      const wasPassed = isDone || !isWanted(place.group, place.queue.messages[offset])
      hold(wasPassed, 2, () => `${placeName(place)}: ${offsets[0]} starts, but ${offset} never did`)
    }
  }

  #checkReplay({ place, offsets, replays }: Run, messages: readonly MessageExt[]): void {
    for (const [i, offset] of offsets.entries()) {
      const letter = place.deadLetters.get(offset)
      const replay = replays[i] ?? 0
      const isWaiting =
        letter?.state === 'replayed' && letter.isSettled === 0 && replay > 0 && letter.replays === replay
      const what = () =>
        `${placeName(place)}: replay ${replay} of ${offset} starts, but does not wait in the lane`
      hold(isWaiting && letter.id === messages[i]?.redelivery?.deadLetterId, 8, what)
      hold(i === 0 || offset > (offsets[i - 1] ?? 0), 2, () => `replays ${offsets} are not in their order`)
    }
  }

  /** Attempts go on where they were, through crashes and changes of owner. */
  #checkAttempt({ place, offsets, replays, tenure, isStored }: Run, attempt: number): void {
    const most = place.group.maxReconsumeTimes
    const name = placeName(place)
    hold(most < 0 || attempt <= most + 1, 3, () => `${name}: attempt ${attempt} of at most ${most + 1}`)
    if (!tenure) return
    for (const [i, offset] of offsets.entries()) {
      const counted = place.counted.get(positionKey(offset, replays[i] ?? 0)) ?? 0
      const expected = counted + (isStored ? 0 : 1)
      hold(
        attempt === expected,
        3,
        () => `${name}: ${offset} starts as attempt ${attempt}; it is number ${expected}`,
      )
    }
  }

  #say({ process, place, offsets, replays, tenure }: Run, what: string): void {
    const lane = replays.some((replay) => replay > 0) ? ` replay ${replays}` : ''
    const late = tenure ? '' : ' WITHOUT THE LOCK'
    this.#world.say(`${process.name} handler ${placeName(place)} ${offsets}${lane} ${what}${late}`)
  }
}

function isLostAlive(tenure: Tenure | undefined): boolean {
  return tenure?.lostBy === 'expired' || tenure?.lostBy === 'forced'
}
