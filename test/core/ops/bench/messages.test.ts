import { describe, expect, it } from 'vitest'
import { javaQueueOf } from '../../../../src/core/model/hash.ts'
import { MessageSource } from '../../../../src/core/ops/bench/messages.ts'
import { prng, seededRuntime } from '../../../../src/core/ops/bench/prng.ts'
import type { BenchSettings } from '../../../../src/core/ops/bench/settings.ts'
import { systemRuntime } from '../../../../src/core/system-runtime.ts'

const SETTINGS: BenchSettings = {
  topic: 'bench',
  messages: 100,
  size: 16,
  queues: 4,
  keys: 10,
  batch: 10,
  durability: 'normal',
  seed: 7,
}

const take = (seed: number, count: number) => new MessageSource(SETTINGS, prng(seed)).take(count).messages

describe('messages of a benchmark', () => {
  it('follow from the seed', () => {
    expect(take(7, 50)).toEqual(take(7, 50))
    expect(take(7, 50)).not.toEqual(take(8, 50))
  })

  it('have the size, the topic and the keys that were asked for', () => {
    const messages = take(1, 500)
    expect(messages.every(({ body, topic }) => body.length === 16 && topic === 'bench')).toBe(true)
    expect(new Set(messages.map(({ key }) => key)).size).toBe(10)
  })

  it('say which queue the key belongs to, by the rule that producers use', () => {
    const { messages, queueIds } = new MessageSource(SETTINGS, prng(3)).take(100)
    expect(queueIds).toEqual(messages.map(({ key }) => javaQueueOf(key ?? '', 4)))
  })
})

describe('seeded chance', () => {
  it('spreads over the whole range', () => {
    const random = prng(42)
    const tenths = new Array<number>(10).fill(0)
    for (let i = 0; i < 10_000; i++) {
      const tenth = Math.floor(random() * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    // 1,000 each on average, with a standard deviation of 30.
    expect(Math.min(...tenths)).toBeGreaterThan(850)
    expect(Math.max(...tenths)).toBeLessThan(1150)
  })

  it('replaces only the chance of a runtime', () => {
    const first = seededRuntime(systemRuntime, 1)
    const second = seededRuntime(systemRuntime, 1)
    expect([first.random(), first.random()]).toEqual([second.random(), second.random()])
    expect(Math.abs(first.monotonic() - systemRuntime.monotonic())).toBeLessThan(1000)
  })
})
