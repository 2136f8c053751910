import type { BenchReport, BenchRow, CheckedAssertion } from '../core/index.ts'
import type { Output } from './output.ts'
import { formatCount } from './quantities.ts'
import type { Column } from './table.ts'

/** Writes a report: a table for people, tab-separated numbers for a pipe. */
export async function writeBenchReport(report: BenchReport, out: Output): Promise<void> {
  if (out.terminal) await out.line(`${settingsLine(report)}\n`)
  await out.table(columns(report, out.terminal), report.rows)
}

/** The document of `--json`. */
export function benchDocument(report: BenchReport, checks: readonly CheckedAssertion[]): unknown {
  const metrics = Object.entries(report.metrics).map(([name, value]) => [name, rounded(value)])
  const { kind, settings } = report
  return { bench: { kind, settings, metrics: Object.fromEntries(metrics), checks } }
}

function settingsLine({ kind, settings }: BenchReport): string {
  const { messages, size, queues, keys, durability, seed, ...more } = settings
  const load = `${number(messages)} messages of ${number(size)} B, ${number(queues)} queues, ${number(keys)} keys`
  const others = Object.entries(more).map(([name, value]) => `${name} ${number(value)}`)
  return `${kind}: ${load}\n${[`durability ${durability}`, `seed ${seed}`, ...others].join(', ')}`
}

function columns(report: BenchReport, forPeople: boolean): readonly Column<BenchRow>[] {
  const units = new Set(report.rows.map(({ unit }) => unit))
  // One unit stands in the headers; several stand with their figures.
  const unit = units.size > 1 ? '' : ` ${report.rows[0]?.unit ?? 'msg/s'}`
  const right = (header: string, value: (row: BenchRow) => number): Column<BenchRow> => {
    if (!forPeople) return { header, value: (row) => rounded(value(row)) }
    const texts = report.rows.map((row) => figure(value(row)))
    const width = Math.max(header.length, ...texts.map((text) => text.length))
    return { header: header.padStart(width), value: (row) => figure(value(row)).padStart(width) }
  }
  return [
    { header: 'WORK', value: ({ work }) => work },
    right(`RMQ${unit}`, ({ ours }) => ours),
    right(`RAW${unit}`, ({ raw }) => raw),
    ...(units.size > 1 ? [{ header: 'UNIT', value: (row: BenchRow) => row.unit }] : []),
    right('RATIO', ({ ratio }) => ratio),
    ...(report.rows.some(({ fair }) => fair !== null)
      ? [right('FAIR', ({ fair }) => fair ?? Number.NaN)]
      : []),
  ]
}

function number(value: number | string | undefined): string {
  return typeof value === 'number' ? formatCount(value) : String(value)
}

/** Rates as whole numbers, small figures (ratios, milliseconds) with two decimals. */
function figure(value: number): string {
  return value >= 100 ? formatCount(Math.round(value)) : value.toFixed(2)
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 1000) / 1000
}
