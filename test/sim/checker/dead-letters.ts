import { hold } from '../broken-invariant.ts'
import type { SimProcess } from '../process.ts'
import type { DeadLetterState } from '../store-view.ts'
import { type GroupQueue, lastRunOf, placeName, positionKey } from './model.ts'

/** Invariants 7 and 8: how messages come to the dead letters, and how they leave. */
export class DeadLetterBook {
  /** How often each one's replay was asked for, by id. */
  readonly #asked = new Map<number, number>()

  asked(id: number): void {
    this.#asked.set(id, (this.#asked.get(id) ?? 0) + 1)
  }

  /** Before the locks and offsets of the same step are looked at. */
  observe(place: GroupQueue, now: DeadLetterState, actor: SimProcess | undefined): void {
    const before = place.deadLetters.get(now.offset)
    if (before === undefined) this.#died(place, now, 0, actor)
    else if (isSame(before, now)) return
    else this.#changed(place, before, now, actor)
    place.deadLetters.set(now.offset, now)
  }

  #changed(
    place: GroupQueue,
    before: DeadLetterState,
    now: DeadLetterState,
    actor: SimProcess | undefined,
  ): void {
    const what = () =>
      `${placeName(place)}: dead letter ${now.offset} went from ${show(before)} to ${show(now)} by ${actor?.name}`
    hold(now.id === before.id && now.body === before.body, 7, what)
    if (now.replays !== before.replays) {
      hold(
        now.replays === before.replays + 1 && before.state !== 'replayed' && now.state === 'replayed',
        8,
        what,
      )
      hold(now.isSettled === 0, 8, what)
      hold(now.replays <= (this.#asked.get(now.id) ?? 0), 8, () => `${what()}, and nobody asked for it`)
      return
    }
    hold(before.state === 'replayed' && before.isSettled === 0, 8, what)
    if (now.state === 'dead') {
      this.#died(place, now, now.replays, actor)
      return
    }
    const run = lastRunOf(place, positionKey(now.offset, now.replays), actor)
    hold(run?.end === 'success', 7, () => `${what()}; its last run: ${run?.end}`)
    const isOwner = run.tenure !== undefined && run.tenure.process === actor && place.tenure === run.tenure
    hold(isOwner, 4, () => `${what()}, which does not own the queue`)
  }

  #died(place: GroupQueue, now: DeadLetterState, replay: number, actor: SimProcess | undefined): void {
    const what = () =>
      `${placeName(place)}: ${now.offset} (replay ${replay}) was dead-lettered by ${actor?.name}`
    const message = place.queue.messages[now.offset]
    hold(now.body === JSON.stringify(message), 7, () => `${what()} as ${now.body}`)
    hold(now.state === 'dead' && now.replays === replay, 7, () => `${what()} as ${show(now)}`)
    const { tenure } = place
    hold(tenure !== undefined && tenure.process === actor, 4, () => `${what()}, which does not own the queue`)
    const key = positionKey(now.offset, replay)
    // Without a run of its own an owner buries what used up its attempts under others.
    const own = lastRunOf(place, key, actor)
    const run =
      own?.tenure === tenure ? own : place.runs.get(key)?.findLast((one) => one.tenure !== undefined)
    const isFresh = run !== undefined && run.tenure === tenure && !run.isStored && run.end !== undefined
    const counted = (place.counted.get(key) ?? 0) + (isFresh ? 1 : 0)
    hold(now.attempts === counted, 3, () => `${what()} with ${now.attempts} attempts; ${counted} were made`)
    if (run?.tenure === tenure && run.end === 'dead-letter') return
    const most = place.group.maxReconsumeTimes
    // Stored starts whose owner died before the handler began count, too; only a success of this owner's does not.
    const isExhausted = most >= 0 && now.attempts === most + 1
    const isConsumed = run?.tenure === tenure && run.end === 'success'
    const story = () => `${what()} after ${now.attempts} of ${most + 1} attempts; its last run: ${run?.end}`
    hold(isExhausted && !isConsumed, 7, story)
  }
}

function isSame(a: DeadLetterState, b: DeadLetterState): boolean {
  return (
    a.state === b.state && a.replays === b.replays && a.isSettled === b.isSettled && a.attempts === b.attempts
  )
}

function show({ state, replays, isSettled }: DeadLetterState): string {
  return `${state}${isSettled ? ' (settled)' : ''} after ${replays} replays`
}
