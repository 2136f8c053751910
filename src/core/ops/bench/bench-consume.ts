import type { Runtime } from '../../model/runtime.ts'
import type { Baseline } from './baseline.ts'
import { ConsumptionMeter } from './consume-workload.ts'
import { MessageSource } from './messages.ts'
import { type BenchReport, commonSettings, type OnProgress, rateRow } from './report.ts'
import { compareInRounds, type Measure } from './rounds.ts'
import type { BenchProducer } from './send-workload.ts'
import { BENCH_ROUNDS, type BenchSettings } from './settings.ts'

/** Messages of one batch while the store is filled; not measured. */
const FILL_BATCH = 1000

export interface ConsumeSides {
  readonly producer: BenchProducer
  readonly baseline: Baseline
  readonly consume: MeasureGroup
  readonly runtime: Runtime
}

/** Consumes `count` messages in order as a new group, and measures from the first one to the last. */
export type MeasureGroup = (group: string, count: number) => Promise<Measure>

export const CONSUME_METRIC_NAMES = ['rate', 'raw', 'ratio'] as const

/** How much of the baseline's reading rate orderly consumption reaches with a handler that does nothing. */
export async function benchConsume(
  sides: ConsumeSides,
  settings: BenchSettings,
  onProgress: OnProgress = () => {},
): Promise<BenchReport> {
  const { runtime, baseline } = sides
  onProgress('storing messages')
  await fill(sides, settings)
  onProgress('orderly consumption')
  // Each round is a new group, which reads everything from the start.
  const ours = (round: number) => sides.consume(`${settings.topic}-${round}`, settings.messages)
  const raw = (): Measure => {
    const meter = new ConsumptionMeter(runtime, settings.messages)
    baseline.consume((queueId, [queueOffset]) => meter.onMessage({ queueId, queueOffset }))
    return meter.measure()
  }
  const comparison = await compareInRounds(ours, raw, BENCH_ROUNDS)
  const { rate, raw: rawRate, ratio } = comparison
  return {
    kind: 'consume',
    settings: commonSettings(settings),
    rows: [rateRow('orderly, in order per queue', comparison)],
    metrics: { rate, raw: rawRate, ratio },
  }
}

/** One consumer in this process. `start` resolves when it has consumed `count` messages and stored their offsets. */
export function measureHere(
  runtime: Runtime,
  start: (group: string, count: number, onMessage: ConsumptionMeter['onMessage']) => Promise<unknown>,
): MeasureGroup {
  return async (group, count) => {
    const meter = new ConsumptionMeter(runtime, count)
    await start(group, count, meter.onMessage)
    return meter.measure()
  }
}

/** Stores the same messages on both sides. */
async function fill({ producer, baseline, runtime }: ConsumeSides, settings: BenchSettings): Promise<void> {
  const source = new MessageSource(settings, runtime.random)
  for (let left = settings.messages; left > 0; left -= FILL_BATCH) {
    const { messages, queueIds } = source.take(Math.min(FILL_BATCH, left))
    await producer.sendBatch(messages)
    baseline.send(messages, queueIds, FILL_BATCH)
  }
}
