import type { Runtime } from './model/runtime.ts'

/** The clock, chance and timers of this machine. The only place, beside `sqlite/host`, that asks for them. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  // CLOCK_MONOTONIC on Linux: since boot, the same for every process, which performance.now() is not.
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  random: () => Math.random(),
  setTimer: (ms, fn) => {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
  defer: (fn) => {
    setImmediate(fn)
  },
}
