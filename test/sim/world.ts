import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Runtime } from '../../src/core/model/runtime.ts'
import type { LivenessHandle } from '../../src/core/sqlite/host.ts'
import type { Chance } from './chance.ts'
import { EventHeap, type ScheduledEvent } from './event-heap.ts'
import { SimProcess } from './process.ts'
import { Trace } from './trace.ts'

/** How kindly the machine treats its processes. */
export interface Weather {
  /** Longest delay of a call to the broker, and of its return, in milliseconds. */
  callDelayMs: number
  /** Share of wake-ups that get lost: polling must make up for them. */
  wakeLoss: number
  wakeDelayMs: number
  /** Each process in a container of its own: none can look at another. */
  containers: boolean
}

export interface SimEvent extends ScheduledEvent {
  /** `undefined`: the world's own, such as a handler's child process or a fault. */
  readonly owner: SimProcess | undefined
  readonly label: string
  /** Part of the process's work, not one of its timers: of those a dead one must not fire even a leftover. */
  readonly isDeferred: boolean
  run(): void
  isCancelled: boolean
}

const START_MONOTONIC = 5_000_000
const START_WALL = Date.UTC(2026, 0, 15, 12)

/**
 * A machine: two clocks, one queue of events, a set of processes and the locks by which they prove that they live.
 * Nothing happens outside of an event, and after each event all that follows from it at once has happened.
 */
export class SimWorld {
  readonly chance: Chance
  readonly weather: Weather
  readonly trace = new Trace()
  readonly processes: SimProcess[] = []
  /** What the processes are told of time: a planted fault bends it. */
  bend: (runtime: Runtime) => Runtime = (runtime) => runtime
  /** Called when an event is about to happen. */
  beforeStep: (event: SimEvent) => void = () => {}
  /** Called for the process of each event when all of it has happened. */
  afterStep: (actor: SimProcess | undefined) => void = () => {}
  /** Set by whoever finds something wrong while events run. The schedule ends with it. */
  failure: unknown
  readonly #events = new EventHeap<SimEvent>()
  readonly #awaited: Promise<unknown>[] = []
  readonly #livenessLocks = new Map<string, SimProcess>()
  readonly #handlers = new Map<string, SimProcess>()
  #monotonic = START_MONOTONIC
  #wallAhead = 0
  #order = 0
  #steps = 0

  constructor(chance: Chance, weather: Weather) {
    this.chance = chance
    this.weather = weather
  }

  monotonic(): number {
    return this.#monotonic
  }

  /** Whole milliseconds, as clocks that people read. */
  wall(): number {
    return Math.floor(START_WALL + this.#monotonic - START_MONOTONIC + this.#wallAhead)
  }

  /** Milliseconds since the start of the schedule. */
  get elapsed(): number {
    return this.#monotonic - START_MONOTONIC
  }

  get steps(): number {
    return this.#steps
  }

  stepWall(ms: number): void {
    this.#wallAhead += ms
    this.say(`wall clock ${ms > 0 ? '+' : ''}${Math.round(ms)} ms`)
  }

  say(text: string): void {
    this.trace.add(this.elapsed, text)
  }

  /** A new process. Names are for people; pids are used again, start times are not. */
  spawn(name: string): SimProcess {
    const taken = new Set(this.processes.filter((one) => !one.isDead).map((one) => one.identity.pid))
    let pid = this.chance.int(100, 130)
    while (taken.has(pid)) pid++
    const started = this.processes.length
    const process = new SimProcess(this, name, {
      pid,
      host: 'sim',
      bootId: 'boot',
      pidNamespace: this.weather.containers ? `ns${started}` : 'ns',
      startTime: String(started),
    })
    this.processes.push(process)
    return process
  }

  schedule(
    owner: SimProcess | undefined,
    afterMs: number,
    label: string,
    run: () => void,
    isDeferred = false,
  ): () => void {
    const at = this.#monotonic + Math.max(0, afterMs)
    const event: SimEvent = { at, order: this.#order++, owner, label, isDeferred, run, isCancelled: false }
    this.#events.push(event)
    return () => {
      event.isCancelled = true
    }
  }

  /** Events that a stopped process missed, now that it goes on: late, in their order. */
  replay(events: readonly SimEvent[]): void {
    for (const event of events) {
      const again = { ...event, at: this.#monotonic, order: this.#order++ }
      // A cancellation still goes to the first one.
      Object.defineProperty(again, 'isCancelled', { get: () => event.isCancelled })
      this.#events.push(again)
    }
  }

  /** Lets the next event happen. False when there is none. */
  async step(): Promise<boolean> {
    const event = this.#next()
    if (event === undefined) return false
    this.#steps++
    this.#monotonic = Math.max(this.#monotonic, event.at)
    this.trace.count(`${event.at} ${event.owner?.name} ${event.label}`)
    this.beforeStep(event)
    event.run()
    await nextTurn()
    for (const real of this.#awaited.splice(0)) await real
    this.afterStep(event.owner)
    if (this.failure !== undefined) throw this.failure
    return true
  }

  #next(): SimEvent | undefined {
    for (;;) {
      const event = this.#events.pop()
      if (event === undefined) return undefined
      if (event.isCancelled) continue
      if (event.owner === undefined || event.owner.admits(event)) return event
    }
  }

  /** The present event is not over before this, which takes real time: modules that are loaded when first used. */
  await(real: Promise<unknown>): void {
    this.#awaited.push(real)
  }

  /** Tells every process that watches, or forgets to. */
  broadcastWake(): void {
    for (const process of this.processes) {
      if (process.isDead || !process.isWatching || this.chance.hit(this.weather.wakeLoss)) continue
      const delay = this.chance.between(0, this.weather.wakeDelayMs)
      this.schedule(process, delay, 'wake', () => process.wake())
    }
  }

  // Proofs of life, as a kernel keeps them

  holdLiveness(path: string, process: SimProcess): LivenessHandle | undefined {
    if (this.isLivenessHeld(path)) return undefined
    this.#livenessLocks.set(path, process)
    return {
      release: () => {
        if (this.#livenessLocks.get(path) === process) this.#livenessLocks.delete(path)
      },
    }
  }

  isLivenessHeld(path: string): boolean {
    return this.#livenessLocks.get(path)?.isDead === false
  }

  /** The process lives on, but its proof is gone (the file was copied away, a descriptor was closed). */
  loseLiveness(process: SimProcess): void {
    for (const [path, holder] of this.#livenessLocks) {
      if (holder === process) this.#livenessLocks.delete(path)
    }
  }

  // Processes of handlers

  handlerStarted(key: string, owner: SimProcess): void {
    this.#handlers.set(key, owner)
  }

  handlerEnded(key: string): void {
    this.#handlers.delete(key)
  }

  handlerRuns(key: string): boolean {
    return this.#handlers.has(key)
  }
}
