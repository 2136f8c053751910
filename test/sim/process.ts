import type { HandlerProcess, ProcessIdentity } from '../../src/core/model/lock.ts'
import type { Runtime } from '../../src/core/model/runtime.ts'
import type { Host, Liveness, WakeUp } from '../../src/core/sqlite/host.ts'
import type { SimEvent, SimWorld } from './world.ts'

interface Pause {
  readonly from: number
  to: number
}

/**
 * A process of the simulated machine. Killed: none of its events ever happens again. Stopped: they wait for it,
 * while its locks stay. It is the `Runtime` and the `Host` of what runs in it.
 */
export class SimProcess {
  readonly world: SimWorld
  readonly name: string
  readonly identity: ProcessIdentity
  readonly host: Host
  readonly runtime: Runtime
  readonly #withheld: SimEvent[] = []
  readonly #pauses: Pause[] = []
  readonly #watchers = new Set<() => void>()
  readonly #atExit: (() => void)[] = []
  readonly #firstBoundary = deferred()
  #state: 'running' | 'stopped' | 'dead' = 'running'
  #isBuried = false

  constructor(world: SimWorld, name: string, identity: ProcessIdentity) {
    this.world = world
    this.name = name
    this.identity = identity
    this.runtime = world.bend({
      now: () => world.wall(),
      monotonic: () => world.monotonic(),
      random: () => world.chance.next(),
      setTimer: (ms, fn) => (this.#isBuried ? () => {} : world.schedule(this, ms, 'timer', fn)),
      defer: (fn) => {
        if (this.#isBuried) setImmediate(fn)
        else world.schedule(this, 0, 'turn', fn, true)
      },
    })
    const { runtime } = this
    this.host = { runtime, process: identity, liveness: this.#liveness(), wakeUp: this.#wakeUp() }
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  get isStopped(): boolean {
    return this.#state === 'stopped'
  }

  /** SIGKILL. */
  kill(): void {
    if (this.isDead) return
    this.world.say(`${this.name} killed`)
    this.#end()
  }

  /** It ended by itself. */
  exit(): void {
    if (this.isDead) return
    this.world.say(`${this.name} ended`)
    this.#end()
  }

  /** SIGSTOP. */
  stop(): void {
    if (this.#state !== 'running') return
    this.world.say(`${this.name} stopped`)
    this.#state = 'stopped'
    this.#pauses.push({ from: this.world.monotonic(), to: Number.POSITIVE_INFINITY })
  }

  /** SIGCONT. */
  continue(): void {
    if (this.#state !== 'stopped') return
    this.world.say(`${this.name} goes on`)
    this.#state = 'running'
    const pause = this.#pauses.at(-1)
    if (pause) pause.to = this.world.monotonic()
    this.world.replay(this.#withheld.splice(0))
  }

  /** Whether it stood still at any time since that moment of the monotonic clock. */
  stoodStillSince(moment: number): boolean {
    return this.#pauses.some(({ to }) => to >= moment)
  }

  onExit(fn: () => void): void {
    this.#atExit.push(fn)
  }

  /** Whether an event of this process may happen now. One that may not is kept, or lost with the process. */
  admits(event: SimEvent): boolean {
    if (this.#state === 'running') return true
    if (this.#state === 'stopped' || event.isDeferred) this.#withheld.push(event)
    return false
  }

  /** Resolves when the first call to a broker is on its way. */
  get firstBoundary(): Promise<void> {
    return this.#firstBoundary.promise
  }

  /** Resolves in a later event of this process: a kill or a stop may come before it. */
  boundary(label: string): Promise<void> {
    this.#firstBoundary.resolve()
    const { chance, weather } = this.world
    const delay = chance.hit(0.5) ? 0 : chance.between(0, weather.callDelayMs)
    return new Promise((resolve) => {
      this.world.schedule(this, delay, label, resolve)
    })
  }

  get isWatching(): boolean {
    return this.#watchers.size > 0
  }

  wake(): void {
    for (const watcher of [...this.#watchers]) watcher()
  }

  /**
   * After the schedule: turns of a dead process that never came, so that its broker can finish and close its file.
   * Whatever it defers from now on happens at once; its timers do not.
   */
  bury(): void {
    this.#isBuried = true
    for (const event of this.#withheld.splice(0)) if (event.isDeferred) event.run()
  }

  #end(): void {
    this.#state = 'dead'
    this.#watchers.clear()
    for (const fn of this.#atExit.splice(0)) fn()
  }

  #liveness(): Liveness {
    const { world } = this
    return {
      hold: (path) => world.holdLiveness(path, this),
      isHeld: (path) => world.isLivenessHeld(path),
      witness: (other) => {
        if (other.pidNamespace !== this.identity.pidNamespace) return 'unseen'
        return world.processes.some((one) => !one.isDead && isSame(one.identity, other)) ? 'runs' : 'gone'
      },
      handlerRuns: (owner, handler) =>
        owner.pidNamespace === this.identity.pidNamespace && world.handlerRuns(handlerKey(handler)),
    }
  }

  #wakeUp(): WakeUp {
    return {
      touch: () => this.world.broadcastWake(),
      watch: (listener) => {
        const own = () => listener()
        this.#watchers.add(own)
        return () => this.#watchers.delete(own)
      },
      close: () => this.#watchers.clear(),
    }
  }
}

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

export function handlerKey({ pid, startTime }: HandlerProcess): string {
  return `${pid}.${startTime}`
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.startTime === b.startTime
}
