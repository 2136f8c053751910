import type { Runtime } from '../../model/runtime.ts'
import type { Baseline } from './baseline.ts'
import { MessageSource } from './messages.ts'
import { type BenchReport, type BenchRow, commonSettings, type OnProgress, rateRow } from './report.ts'
import { type Comparison, compareInRounds } from './rounds.ts'
import {
  type BenchProducer,
  commitSize,
  measureSend,
  SEND_MODES,
  type SendMode,
  SHARE_OF_MODE,
} from './send-workload.ts'
import { BENCH_IN_FLIGHT, BENCH_ROUNDS, type BenchSettings } from './settings.ts'

export interface SendSides {
  readonly producer: BenchProducer
  readonly baseline: Baseline
  /** Its chance is the seed's. */
  readonly runtime: Runtime
}

/** How much of the baseline's rate a producer reaches: in batches, with many sends in flight, and one at a time. */
export async function benchSend(
  sides: SendSides,
  settings: BenchSettings,
  onProgress: OnProgress = () => {},
): Promise<BenchReport> {
  const source = new MessageSource(settings, sides.runtime.random)
  const comparisons: [SendMode, Comparison][] = []
  for (const mode of SEND_MODES) {
    onProgress(modeName(mode, settings.batch))
    comparisons.push([mode, await compareMode(sides, settings, source, mode)])
  }
  const rows = comparisons.map(([mode, comparison]) => rateRow(modeName(mode, settings.batch), comparison))
  return sendReport(settings, rows, { batch: settings.batch })
}

/** The baseline's rate of one mode, beside which that of several processes is put. */
export function compareMode(
  { producer, baseline, runtime }: SendSides,
  settings: BenchSettings,
  source: MessageSource,
  mode: SendMode,
): Promise<Comparison> {
  const perRound = messagesPerRound(settings, mode)
  const ours = () => {
    const { messages } = source.take(perRound)
    return measureSend(producer, mode, messages, settings.batch, runtime)
  }
  const raw = () => {
    const { messages, queueIds } = source.take(perRound)
    const startedAt = runtime.monotonic()
    baseline.send(messages, queueIds, commitSize(mode, settings.batch))
    return { count: perRound, ms: runtime.monotonic() - startedAt }
  }
  return compareInRounds(ours, raw, BENCH_ROUNDS)
}

export function messagesPerRound({ messages }: BenchSettings, mode: SendMode): number {
  return Math.max(1, Math.round((messages * SHARE_OF_MODE[mode]) / BENCH_ROUNDS))
}

export function modeName(mode: SendMode, batch: number): string {
  return { bulk: `batches of ${batch}`, pipelined: `${BENCH_IN_FLIGHT} in flight`, single: 'one at a time' }[
    mode
  ]
}

/** Rows stand in the order of `SEND_MODES`; the first one's figures have the short names. */
export function sendReport(
  settings: BenchSettings,
  rows: readonly BenchRow[],
  extra: Readonly<Record<string, number>>,
): BenchReport {
  const metrics: Record<string, number> = {}
  for (const [i, { ours, raw, ratio, fair }] of rows.entries()) {
    const prefix = i === 0 ? '' : `${SEND_MODES[i]}.`
    Object.assign(metrics, { [`${prefix}rate`]: ours, [`${prefix}raw`]: raw, [`${prefix}ratio`]: ratio })
    if (fair !== null) metrics[`${prefix}fair`] = fair
  }
  return { kind: 'send', settings: { ...commonSettings(settings), ...extra }, rows, metrics }
}

/** What `--assert` may name. */
export function sendMetricNames(producers: number): readonly string[] {
  const figures = ['rate', 'raw', 'ratio', ...(producers > 1 ? ['fair'] : [])]
  return SEND_MODES.flatMap((mode) => figures.map((name) => (mode === 'bulk' ? name : `${mode}.${name}`)))
}
