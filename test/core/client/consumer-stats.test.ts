import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConsumerStats } from '../../../src/core/client/consumer-stats.ts'
import { ManualRuntime } from '../../helpers/manual-runtime.ts'

const MINUTE = 60_000
const HOUR = 3_600_000

let runtime: ManualRuntime
let stats: ConsumerStats
let stop: () => void

beforeEach(() => {
  runtime = new ManualRuntime()
  stats = new ConsumerStats(runtime)
  stop = stats.start()
})

afterEach(() => stop())

const only = () => {
  const [status, ...more] = stats.topics()
  if (!status || more.length > 0) throw new Error('there is not exactly one topic')
  return status
}

/** The same every second for so long. */
async function steadily(seconds: number, each: () => void): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    each()
    await runtime.pass(1000)
  }
}

describe('the rates of a topic', () => {
  it('are per second over the last minute, apart for success and failure', async () => {
    await steadily(120, () => {
      stats.consumed('orders', 5, true, 20)
      stats.consumed('orders', 1, false, 80)
      stats.pulled('orders', 32, 4)
    })
    expect(only()).toEqual({
      topic: 'orders',
      consumeOkTps: 5,
      consumeFailedTps: 1,
      consumeRt: 50,
      pullTps: 32,
      pullRt: 4,
      consumeFailedMsgs: 120,
    })
  })

  it('are there before the first sample, and forget what is over a minute old', async () => {
    await steadily(4, () => stats.consumed('orders', 10, true, 1))
    expect(only().consumeOkTps).toBe(10)
    await runtime.pass(2 * MINUTE)
    expect(only().consumeOkTps).toBe(0)
  })

  it('take what came at once for one second', () => {
    stats.consumed('orders', 7, true, 1)
    expect(only().consumeOkTps).toBe(7)
  })

  it('are right after a pause in which no sample was taken', async () => {
    await steadily(60, () => stats.consumed('orders', 10, true, 1))
    stop()
    await runtime.pass(540_000)
    // 600 messages in 600 seconds, as far as its samples know.
    expect(only().consumeOkTps).toBe(1)
  })

  it('are those of each topic, by name', () => {
    stats.consumed('orders', 2, true, 1)
    stats.consumed('bills', 3, false, 1)
    expect(stats.topics()).toMatchObject([
      { topic: 'bills', consumeOkTps: 0, consumeFailedTps: 3 },
      { topic: 'orders', consumeOkTps: 2, consumeFailedTps: 0 },
    ])
  })
})

describe('response times', () => {
  it('are means over runs, whatever the size of their batches', () => {
    stats.consumed('orders', 100, true, 10)
    stats.consumed('orders', 1, true, 30)
    expect(only().consumeRt).toBe(20)
  })

  it('count a run once whose messages ended differently', () => {
    stats.consumed('orders', 3, true, 10)
    stats.consumed('orders', 1, false)
    expect(only()).toMatchObject({ consumeRt: 10, consumeOkTps: 3, consumeFailedTps: 1 })
  })

  it('are those of the last hour when the last minute had no run', async () => {
    stats.consumed('orders', 1, true, 25)
    await runtime.pass(5 * MINUTE)
    expect(only().consumeRt).toBe(25)
    await runtime.pass(2 * HOUR)
    expect(only().consumeRt).toBe(0)
  })
})

describe('failures', () => {
  it('are counted over the last hour', async () => {
    stats.consumed('orders', 4, false, 1)
    await runtime.pass(HOUR / 2)
    stats.consumed('orders', 2, false, 1)
    expect(only().consumeFailedMsgs).toBe(6)
    await runtime.pass((HOUR * 3) / 4)
    expect(only().consumeFailedMsgs).toBe(2)
    await runtime.pass(HOUR)
    expect(only().consumeFailedMsgs).toBe(0)
  })
})

describe('sampling', () => {
  it('rests on one timer, and leaves none behind', () => {
    expect(runtime.waiting).toBe(1)
    stop()
    expect(runtime.waiting).toBe(0)
  })
})
