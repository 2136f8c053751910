import { describe, expect, it } from 'vitest'
import type { Runtime } from '../../../src/core/model/runtime.ts'
import { Pace } from '../../../src/core/ops/pace.ts'

/** A clock that moves only when someone waits; each wait is `lateMs` longer than asked for. */
function clock(lateMs: number): Runtime & { advance(ms: number): void } {
  let time = 1000
  return {
    now: () => time,
    monotonic: () => time,
    random: () => 0,
    setTimer: (ms, fn) => {
      let isCancelled = false
      queueMicrotask(() => {
        if (isCancelled) return
        time += ms + lateMs
        fn()
      })
      return () => {
        isCancelled = true
      }
    },
    defer: (fn) => queueMicrotask(fn),
    advance: (ms) => {
      time += ms
    },
  }
}

async function turns(pace: Pace, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await pace.turn()
}

describe('a pace', () => {
  it('holds its rate although every timer is late', async () => {
    const runtime = clock(3)
    const startedAt = runtime.monotonic()
    await turns(new Pace(100, runtime), 1001)
    // 1,000 intervals of 10 ms; lateness of 3 ms each would make 13 s.
    expect(runtime.monotonic() - startedAt).toBeGreaterThanOrEqual(10_000)
    expect(runtime.monotonic() - startedAt).toBeLessThan(10_020)
  })

  it('does not catch up a long stall in one burst', async () => {
    const runtime = clock(0)
    const pace = new Pace(100, runtime)
    await turns(pace, 1)
    runtime.advance(60_000)
    const after = runtime.monotonic()
    await turns(pace, 101)
    // At most 200 ms, 20 turns, come at once.
    expect(runtime.monotonic() - after).toBeGreaterThanOrEqual(790)
  })

  it('waits for nothing without a rate', async () => {
    const runtime = clock(0)
    const startedAt = runtime.monotonic()
    await turns(new Pace(undefined, runtime), 1000)
    expect(runtime.monotonic()).toBe(startedAt)
  })

  it('ends its wait when it is aborted', async () => {
    const runtime = clock(0)
    const pace = new Pace(1, runtime)
    await pace.turn()
    const startedAt = runtime.monotonic()
    await pace.turn(AbortSignal.abort())
    expect(runtime.monotonic()).toBe(startedAt)
  })
})
