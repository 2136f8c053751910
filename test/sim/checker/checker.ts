import type { AttemptFailure, AttemptPosition, DeadMessage, Fence } from '../../../src/core/broker.ts'
import type { DeadLetter } from '../../../src/core/model/dead-letter.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'
import type { MessageQueue } from '../../../src/core/model/message-queue.ts'
import { BrokenInvariant, hold } from '../broken-invariant.ts'
import type { GroupPlan } from '../plan.ts'
import type { SimProcess } from '../process.ts'
import type { BrokerCall } from '../stepped-broker.ts'
import type { StoreView } from '../store-view.ts'
import type { SimWorld } from '../world.ts'
import { Counts } from './counts.ts'
import { DeadLetterBook } from './dead-letters.ts'
import { Deliveries } from './deliveries.ts'
import { type GroupQueue, isWanted, placeName, type QueueModel, type Run, type RunEnd } from './model.ts'
import { Offsets } from './offsets.ts'
import { Ownership } from './ownership.ts'
import { StoredMessages } from './stored-messages.ts'

/**
 * Knows from outside what happened, and holds each step against the invariants: what handlers ran, what calls were
 * accepted, and how the store changed, each change with the one process whose step it was.
 */
export class Checker {
  readonly messages: StoredMessages
  readonly #world: SimWorld
  readonly #view: StoreView
  readonly #groups: readonly GroupPlan[]
  readonly #places = new Map<string, GroupQueue>()
  readonly #ownership: Ownership
  readonly #deliveries: Deliveries
  readonly #letters = new DeadLetterBook()
  readonly #counts = new Counts()
  readonly #offsets: Offsets

  constructor(world: SimWorld, view: StoreView, groups: readonly GroupPlan[]) {
    this.#world = world
    this.#view = view
    this.#groups = groups
    this.messages = new StoredMessages(view)
    this.#ownership = new Ownership(world)
    this.#deliveries = new Deliveries(world)
    this.#offsets = new Offsets(world)
  }

  /** What the store shows now, as the deed of `actor`. Throws BrokenInvariant. */
  observe(actor: SimProcess | undefined): void {
    if (!this.#view.isChanged()) return
    const state = this.#view.read()
    this.messages.observe(state.queues)
    for (const group of this.#groups) {
      for (const queue of this.messages.queues.values()) this.#place(group, queue)
    }
    const at = ({ group, row }: { readonly group: string; readonly row: number }) =>
      this.#places.get(`${group} ${row}`) as GroupQueue
    for (const letter of state.deadLetters) this.#letters.observe(at(letter), letter, actor)
    for (const lock of state.locks) this.#ownership.observe(at(lock), lock, actor)
    for (const offset of state.offsets) this.#offsets.observe(at(offset), offset.committed, actor)
    for (const place of this.#places.values()) {
      const { group, queue, committed = 0, deadLetters } = place
      const own = state.attempts.filter((row) => row.group === group.name && row.row === queue.row)
      this.#counts.observe(place, own)
      for (const offset of deadLetters.keys()) {
        hold(offset < committed, 7, () => `${placeName(place)}: ${offset} is dead-lettered and pending`)
      }
    }
  }

  beginRun(
    process: SimProcess,
    group: GroupPlan,
    mq: MessageQueue,
    messages: readonly MessageExt[],
    attempt: number,
  ): Run {
    return this.#watched(() => {
      this.observe(process)
      return this.#deliveries.begin(this.#placeOf(group.name, mq), process, messages, attempt)
    })
  }

  endRun(run: Run, end: RunEnd): void {
    this.#deliveries.end(run, end)
  }

  /** A call is about to reach the broker. */
  calling({ name, args }: BrokerCall): void {
    if (name === 'deadLetters.replay') this.#letters.asked((args[0] as DeadLetter).id)
  }

  /** The broker has answered; what it changed is committed, and not observed yet. */
  answered({ name, args, process }: BrokerCall, result: unknown): void {
    if (result !== true) return
    const [fence, what] = args as [Fence, unknown]
    const place = () => this.#placeOf(fence.group, fence.mq)
    if (name === 'attempts.start') this.#counts.started(place(), process, what as AttemptPosition[])
    if (name === 'attempts.fail') this.#counts.failed(place(), process, what as AttemptFailure[])
    if (name === 'attempts.release') this.#counts.released(place(), what as AttemptPosition[])
    if (name === 'deadLetter')
      this.#world.say(`${process.name} dead-letters ${offsetsOf(what as DeadMessage[])}`)
  }

  /** Whether a member of the group has ever joined. */
  knows(group: GroupPlan): boolean {
    return [...this.#places.values()].some((place) => place.group === group && place.committed !== undefined)
  }

  /** Whether nothing is left to consume or to send back. */
  get isDrained(): boolean {
    return [...this.#places.values()].every(({ committed = 0, queue, deadLetters }) => {
      const waits = [...deadLetters.values()].some(
        ({ state, isSettled }) => state === 'replayed' && !isSettled,
      )
      return committed === queue.messages.length && !waits
    })
  }

  /** Offsets that every group has passed, by queue row. */
  passedByAll(): ReadonlyMap<number, number> {
    const passed = new Map<number, number>()
    for (const { queue, committed = 0 } of this.#places.values()) {
      passed.set(queue.row, Math.min(passed.get(queue.row) ?? Number.POSITIVE_INFINITY, committed))
    }
    return passed
  }

  /** What is left when it is not drained. */
  backlog(): string {
    return [...this.#places.values()]
      .filter(({ committed = 0, queue }) => committed < queue.messages.length)
      .map((place) => `${placeName(place)} ${place.committed}/${place.queue.messages.length}`)
      .join(', ')
  }

  /** Every message has its one end, once the groups have come to theirs. */
  finish(): void {
    for (const place of this.#places.values()) {
      const name = placeName(place)
      for (const [offset, message] of place.queue.messages.entries()) {
        const tenures = [...place.pastTenures, ...(place.tenure ? [place.tenure] : [])]
        const isConsumed = tenures.some(({ settled }) => settled.has(offset))
        const isOver = isConsumed || place.deadLetters.has(offset) || !isWanted(place.group, message)
        hold(isOver, 7, () => `${name}: ${offset} was neither consumed nor dead-lettered`)
      }
      const { tenure } = place
      // A dead owner's lock waits for whoever comes next.
      const isKept = tenure !== undefined && !tenure.process.isDead
      hold(!isKept, 9, () => `${name}: ${tenure?.process.name} kept its lock after a clean stop`)
    }
  }

  #placeOf(group: string, mq: MessageQueue): GroupQueue {
    for (const place of this.#places.values()) {
      const { topic, queueId } = place.queue
      if (place.group.name === group && topic === mq.topic && queueId === mq.queueId) return place
    }
    throw new BrokenInvariant(1, `queue ${mq.topic}:${mq.queueId} is not in the store`)
  }

  #place(group: GroupPlan, queue: QueueModel): void {
    const key = `${group.name} ${queue.row}`
    if (this.#places.has(key)) return
    this.#places.set(key, {
      group,
      queue,
      committed: undefined,
      epoch: 0,
      tenure: undefined,
      pastTenures: [],
      active: new Set(),
      begun: new Set(),
      charges: new Map(),
      counted: new Map(),
      announced: new Map(),
      runs: new Map(),
      attempts: new Map(),
      deadLetters: new Map(),
    })
  }

  /** Within a handler an exception would be the handler's: it is kept for the world instead. */
  #watched<T>(check: () => T): T {
    try {
      return check()
    } catch (error) {
      this.#world.failure ??= error
      throw error
    }
  }
}

function offsetsOf(letters: readonly DeadMessage[]): string {
  return letters.map(({ message }) => `${message.topic}:${message.queueId} ${message.queueOffset}`).join(', ')
}
