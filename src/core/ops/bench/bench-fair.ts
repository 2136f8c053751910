import { compareMode, modeName, type SendSides, sendReport } from './bench-send.ts'
import { MessageSource } from './messages.ts'
import type { StartWorker } from './orders.ts'
import { type BenchReport, type BenchRow, type OnProgress, rateRow } from './report.ts'
import { perSecond } from './rounds.ts'
import { SEND_MODES, type SendMode } from './send-workload.ts'
import type { BenchSettings } from './settings.ts'

/** How long the processes send against each other in each mode; less when few messages are asked for. */
const CONTEST_MS_MAX = 2_000
const CONTEST_MS_MIN = 200
const MESSAGES_PER_MS = 100

export interface FairOptions {
  readonly producers: number
  readonly startWorker: StartWorker
  readonly path: string
  readonly settings: BenchSettings
  readonly onProgress?: OnProgress
}

/**
 * Several processes that send to one file at once: their rate together, put beside the baseline's rate of one process,
 * and `fair`, the slowest one's share of the fastest one's rate.
 */
export async function benchFair(sides: SendSides, options: FairOptions): Promise<BenchReport> {
  const { producers, startWorker, path, settings, onProgress = () => {} } = options
  const source = new MessageSource(settings, sides.runtime.random)
  const ms = Math.max(CONTEST_MS_MIN, Math.min(CONTEST_MS_MAX, settings.messages / MESSAGES_PER_MS))
  const workers = await Promise.all(
    Array.from({ length: producers }, (_, index) =>
      startWorker({ role: 'producer', side: 'ours', path, settings, index, stamped: false }),
    ),
  )
  const contest = async (mode: SendMode): Promise<BenchRow> => {
    const name = modeName(mode, settings.batch)
    onProgress(name)
    const { raw } = await compareMode(sides, settings, source, mode)
    onProgress(`${name}, ${producers} processes`)
    const measures = await Promise.all(workers.map((worker) => worker.order({ do: 'send', mode, ms })))
    const rates = measures.map(perSecond)
    const rate = rates.reduce((sum, one) => sum + one, 0)
    return rateRow(name, { rate, raw, ratio: rate / raw }, Math.min(...rates) / Math.max(...rates))
  }
  const rows: BenchRow[] = []
  for (const mode of SEND_MODES) rows.push(await contest(mode))
  return sendReport(settings, rows, { batch: settings.batch, producers })
}
