import type { Metrics } from './assertion.ts'
import type { Comparison } from './rounds.ts'
import type { BenchSettings } from './settings.ts'

export type BenchKind = 'send' | 'consume' | 'e2e' | 'backlog'

/** One line of a benchmark: what was measured on both sides. */
export interface BenchRow {
  readonly work: string
  /** Messages a second, or what `unit` says. */
  readonly ours: number
  readonly raw: number
  /** How much of the baseline is reached: 1 is as good, whichever way the unit counts. */
  readonly ratio: number
  readonly unit: 'msg/s' | 'ms' | 'MB'
  /** Slowest process's share of the fastest one's rate; `null` with one process. */
  readonly fair: number | null
}

export interface BenchReport {
  readonly kind: BenchKind
  readonly settings: Readonly<Record<string, number | string>>
  readonly rows: readonly BenchRow[]
  /** The same figures by the names that `--assert` knows. */
  readonly metrics: Metrics
}

/** Says what is being measured while it lasts. */
export type OnProgress = (work: string) => void

export function rateRow(
  work: string,
  { rate, raw, ratio }: Comparison,
  fair: number | null = null,
): BenchRow {
  return { work, ours: rate, raw, ratio, unit: 'msg/s', fair }
}

/** Settings that belong to every report. */
export function commonSettings(settings: BenchSettings): Record<string, number | string> {
  const { messages, size, queues, keys, durability, seed } = settings
  return { messages, size, queues, keys, durability, seed }
}
