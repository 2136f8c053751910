import type { Runtime } from '../../model/runtime.ts'

/** Numbers in [0, 1) that follow from the seed alone: a counter put through the finaliser of MurmurHash3. */
export function prng(seed: number): () => number {
  let counter = seed | 0
  return () => {
    counter = (counter + 0x9e3779b9) | 0
    let mixed = counter
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

/** A runtime whose chance is the seed's and whose time is the given one's. */
export function seededRuntime(runtime: Runtime, seed: number): Runtime {
  const random = prng(seed)
  return {
    now: () => runtime.now(),
    monotonic: () => runtime.monotonic(),
    random,
    setTimer: (ms, fn) => runtime.setTimer(ms, fn),
    defer: (fn) => runtime.defer(fn),
  }
}
