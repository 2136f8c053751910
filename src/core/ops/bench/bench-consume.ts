import { type Runtime, sleep } from '../../model/runtime.ts'
import type { Baseline } from './baseline.ts'
import { BENCH_TAG, type ConsumePlan, orderOf, planName, planSettings, wantedOf } from './consume-plan.ts'
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
  /** Gives `count` records to the piped process without rmq. */
  readonly pipe: (count: number) => Promise<Measure>
  readonly runtime: Runtime
}

/** Consumes `count` messages as a new group, and measures from the first one to the last. */
export type MeasureGroup = (group: string, count: number) => Promise<Measure>

export const CONSUME_METRIC_NAMES = ['rate', 'raw', 'ratio'] as const

/**
 * How much of the rate of the same work without rmq a consumer reaches. That work is reading what is stored; with a
 * handler that waits, also to wait over each batch of a queue in turn; with a piped process, its share alone. What a
 * filter drops was read, and counts.
 */
export async function benchConsume(
  sides: ConsumeSides,
  settings: BenchSettings,
  plan: ConsumePlan,
  onProgress: OnProgress = () => {},
): Promise<BenchReport> {
  const { messages, topic } = settings
  onProgress('storing messages')
  await fill(sides, settings, plan.tagEvery)
  onProgress('consumption')
  // Each round is a new group, which reads everything from the start.
  const ours = async (round: number): Promise<Measure> => {
    const { ms } = await sides.consume(`${topic}-${round}`, wantedOf(messages, plan))
    return { count: messages, ms }
  }
  const comparison = await compareInRounds(ours, () => raw(sides, settings, plan), BENCH_ROUNDS)
  const { rate, raw: rawRate, ratio } = comparison
  return {
    kind: 'consume',
    settings: { ...commonSettings(settings), ...planSettings(plan) },
    rows: [rateRow(planName(plan), comparison)],
    metrics: { rate, raw: rawRate, ratio },
  }
}

/** One consumer in this process. `start` resolves when it has consumed `count` messages and stored their offsets. */
export function measureHere(
  runtime: Runtime,
  plan: ConsumePlan,
  start: (group: string, count: number, onMessage: ConsumptionMeter['onMessage']) => Promise<unknown>,
): MeasureGroup {
  return async (group, count) => {
    const meter = new ConsumptionMeter(runtime, count, orderOf(plan))
    await start(group, count, meter.onMessage)
    return meter.measure()
  }
}

/** Stores the same messages on both sides. */
export async function fill(
  {
    producer,
    baseline,
    runtime,
  }: Pick<ConsumeSides, 'producer' | 'runtime'> & {
    readonly baseline?: Baseline
  },
  settings: BenchSettings,
  tagEvery = 1,
): Promise<void> {
  const source = new MessageSource(settings, runtime.random)
  for (let done = 0; done < settings.messages; done += FILL_BATCH) {
    const { messages, queueIds } = source.take(Math.min(FILL_BATCH, settings.messages - done))
    const tagged = messages.map((message, i) =>
      tagEvery > 1 && (done + i) % tagEvery === 0 ? { ...message, tags: BENCH_TAG } : message,
    )
    await producer.sendBatch(tagged)
    baseline?.send(messages, queueIds, FILL_BATCH)
  }
}

async function raw(
  { baseline, pipe, runtime }: ConsumeSides,
  { messages }: BenchSettings,
  plan: ConsumePlan,
): Promise<Measure> {
  if (plan.pipe) return pipe(messages)
  const meter = new ConsumptionMeter(runtime, messages)
  const startedAt = runtime.monotonic()
  const counts: number[] = []
  baseline.consume((queueId, [queueOffset]) => {
    meter.onMessage({ queueId, queueOffset, key: null })
    counts[queueId] = (counts[queueId] ?? 0) + 1
  })
  if (plan.workMs === 0) return meter.measure()
  await Promise.all(counts.map((count) => work(runtime, plan.workMs, Math.ceil(count / plan.batch))))
  return { count: messages, ms: runtime.monotonic() - startedAt }
}

/** Waits `times` times, one after the other. */
async function work(runtime: Runtime, ms: number, times: number): Promise<void> {
  for (let done = 0; done < times; done++) await sleep(runtime, ms)
}
