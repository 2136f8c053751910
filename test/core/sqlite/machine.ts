import { randomInt } from 'node:crypto'
import type { Host } from '../../../src/core/sqlite/host.ts'

/**
 * A machine that a test owns: its clocks stand until they are moved, and its processes die when told to.
 * What the kernel would know (who holds a liveness file, which pid runs) is in plain sets.
 */
export class Machine {
  /** Milliseconds since boot. */
  monotonic = 1_000_000
  /** Wall clock. */
  now = 1_700_000_000_000
  readonly bootId: string
  /** Path of a liveness file to the pid that holds it. */
  readonly held = new Map<string, number>()
  /** Pids that run, handlers included. */
  readonly running = new Set<number>()
  /** How often somebody looked at a liveness file. */
  probes = 0
  #nextPid = 100
  readonly #watchers = new Set<() => void>()

  constructor(bootId = `boot-${randomInt(1e9)}`) {
    this.bootId = bootId
  }

  pass(ms: number): void {
    this.monotonic += ms
    this.now += ms
  }

  startProcess(): Host {
    const pid = this.#nextPid++
    this.running.add(pid)
    return {
      runtime: {
        now: () => this.now,
        monotonic: () => this.monotonic,
        random: () => 0.5,
        setTimer: (_ms, fn) => {
          const timer = setTimeout(fn, 1)
          return () => clearTimeout(timer)
        },
        defer: (fn) => {
          setImmediate(fn)
        },
      },
      process: {
        pid,
        host: 'box',
        bootId: this.bootId,
        pidNamespace: 'ns',
        startTime: `start-${pid}`,
      },
      liveness: {
        hold: (path) => {
          if (this.held.has(path)) return undefined
          this.held.set(path, pid)
          return { release: () => this.held.get(path) === pid && this.held.delete(path) }
        },
        isHeld: (path) => {
          this.probes++
          return this.held.has(path)
        },
        witness: (other) => {
          if (other.bootId !== this.bootId) return 'unseen'
          return this.running.has(other.pid) ? 'runs' : 'gone'
        },
        handlerRuns: (owner, handler) => owner.bootId === this.bootId && this.running.has(handler.pid),
      },
      wakeUp: {
        touch: () => {
          for (const listener of this.#watchers) listener()
        },
        watch: (listener) => {
          this.#watchers.add(listener)
          return () => this.#watchers.delete(listener)
        },
        close: () => {},
      },
    }
  }

  /** kill -9: the kernel drops its locks. */
  kill(host: Host): void {
    const { pid } = host.process
    this.running.delete(pid)
    for (const [path, holder] of this.held) if (holder === pid) this.held.delete(path)
  }

  /** The one accident: the process runs on without its locks. */
  dropLocks(host: Host): void {
    for (const [path, holder] of this.held) if (holder === host.process.pid) this.held.delete(path)
  }
}
