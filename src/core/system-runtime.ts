import type { Runtime } from './model/runtime.ts'

/**
 * When this process started, on CLOCK_MONOTONIC: since boot, the same for every process. performance.now() runs on
 * that clock from here on, and unlike process.hrtime() it makes no array: a consumer asks for each message.
 */
const startedAt = hrtimeMs() - performance.now()

function hrtimeMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

/** The clock, chance and timers of this machine. The only place, beside `sqlite/host`, that asks for them. */
export const systemRuntime: Runtime = {
  now: () => Date.now(),
  monotonic: () => startedAt + performance.now(),
  random: () => Math.random(),
  setTimer: (ms, fn) => {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
  defer: (fn) => {
    setImmediate(fn)
  },
}
