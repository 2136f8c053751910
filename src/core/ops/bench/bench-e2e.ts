import type { Runtime } from '../../model/runtime.ts'
import { collectAll } from './consumer-team.ts'
import type { BenchWorker, StartWorker } from './orders.ts'
import { type BenchReport, type BenchRow, commonSettings, type OnProgress } from './report.ts'
import type { BenchSettings } from './settings.ts'
import { percentile } from './statistics.ts'

/** Parts that the messages are sent in, the two sides in turns, after one that warms up. */
const PARTS = 4
export interface E2eOptions {
  readonly settings: BenchSettings
  readonly producers: number
  readonly consumers: number
  /** Of all producers together. */
  readonly perSecond: number
  readonly runtime: Runtime
  readonly startWorker: StartWorker
  /** The two files. */
  readonly paths: { readonly ours: string; readonly raw: string }
  readonly onProgress?: OnProgress
}

const SHARES = [
  ['p50', 0.5],
  ['p99', 0.99],
  ['max', 1],
] as const

/** What `--assert` may name: latencies in milliseconds, and `ratio`, the baseline's p50 as a share of ours. */
export const E2E_METRIC_NAMES = ['p50', 'p99', 'max', 'raw.p50', 'raw.p99', 'raw.max', 'ratio'] as const

/** How long a message takes from one process to another, at a steady rate. */
export async function benchE2e(options: E2eOptions): Promise<BenchReport> {
  const { settings, onProgress = () => {} } = options
  onProgress('starting processes')
  // The baseline has no group whose members share queues: one process reads everything.
  const raw = await startTeam(options, 'raw', options.producers, 1)
  const ours = await startTeam(options, 'ours', options.producers, options.consumers)
  const latencies: { ours: number[]; raw: number[] } = { ours: [], raw: [] }
  for (let part = 0; part <= PARTS; part++) {
    onProgress(part === 0 ? 'warming up' : `latency, part ${part} of ${PARTS}`)
    const ofRaw = await runPart(options, raw)
    const ofOurs = await runPart(options, ours)
    if (part === 0) continue
    latencies.raw = latencies.raw.concat(ofRaw)
    latencies.ours = latencies.ours.concat(ofOurs)
  }
  for (const consumer of [...ours.consumers, ...raw.consumers]) await consumer.order({ do: 'leave' })
  const { producers, consumers, perSecond } = options
  return report({ ...commonSettings(settings), producers, consumers, rate: perSecond }, latencies)
}

interface Team {
  readonly producers: readonly BenchWorker[]
  readonly consumers: readonly BenchWorker[]
}

async function startTeam(
  { startWorker, settings, paths }: E2eOptions,
  side: 'ours' | 'raw',
  producers: number,
  consumers: number,
): Promise<Team> {
  const start = (role: 'producer' | 'consumer', count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        startWorker({ role, side, path: paths[side], settings, index, stamped: true }),
      ),
    )
  const team = {
    producers: await start('producer', producers),
    consumers: await start('consumer', consumers),
  }
  await Promise.all(team.consumers.map((consumer) => consumer.order({ do: 'join', group: settings.topic })))
  return team
}

async function runPart({ settings, perSecond, runtime }: E2eOptions, team: Team): Promise<number[]> {
  const size = Math.max(1, team.producers.length)
  const count = Math.max(1, Math.round(settings.messages / PARTS / size))
  const produce = { do: 'produce', count, perSecond: perSecond / size } as const
  await Promise.all(team.producers.map((producer) => producer.order(produce)))
  const parts = await collectAll(team.consumers, count * size, runtime)
  return parts.flatMap((part) => part.latencies)
}

function report(
  settings: BenchReport['settings'],
  latencies: { readonly ours: readonly number[]; readonly raw: readonly number[] },
): BenchReport {
  const rows: BenchRow[] = SHARES.map(([work, share]) => {
    const ours = percentile(latencies.ours, share)
    const raw = percentile(latencies.raw, share)
    return { work, ours, raw, ratio: raw / ours, unit: 'ms', fair: null }
  })
  const metrics: Record<string, number> = { ratio: rows[0]?.ratio ?? Number.NaN }
  for (const { work, ours, raw } of rows) Object.assign(metrics, { [work]: ours, [`raw.${work}`]: raw })
  return { kind: 'e2e', settings, rows, metrics }
}
