import { sleep } from '../../model/runtime.ts'
import { fill } from './bench-consume.ts'
import type { SendSides } from './bench-send.ts'
import { type ConsumePlan, planSettings } from './consume-plan.ts'
import { MessageSource } from './messages.ts'
import type { BenchWorker, StartWorker } from './orders.ts'
import { type BenchReport, type BenchRow, commonSettings, type OnProgress, rateRow } from './report.ts'
import { compareInRounds } from './rounds.ts'
import { measureSend } from './send-workload.ts'
import { BENCH_ROUNDS, type BenchSettings } from './settings.ts'

/** A frozen consumer has joined, and fills its caches, for this long. */
const JOINED_MS = 200
const BYTES_PER_MB = 1e6
/** The producer's share of the messages in each round. */
const ROUNDS_SHARE = 20

export interface BacklogOptions {
  readonly settings: BenchSettings
  readonly plan: ConsumePlan
  /** How long the consumer works before its memory is read, in milliseconds. */
  readonly forMs: number
  readonly startWorker: StartWorker
  readonly path: string
  readonly onProgress?: OnProgress
}

/** What `--assert` may name: megabytes of the consumer process, and rates of the producer. */
export const BACKLOG_METRIC_NAMES = ['memory', 'raw.memory', 'rate', 'raw', 'ratio'] as const

/**
 * A consumer that is slow in front of many messages: the most memory that its process takes, beside that of the same
 * process before it joined; and the rate of a producer beside it when it is frozen (SIGSTOP), beside the rate alone.
 */
export async function benchBacklog(
  sides: Pick<SendSides, 'producer' | 'runtime'>,
  options: BacklogOptions,
): Promise<BenchReport> {
  const { settings, plan, forMs, startWorker, path, onProgress = () => {} } = options
  onProgress('storing messages')
  await fill(sides, settings)
  const spec = { role: 'consumer', side: 'ours', path, settings, index: 0, stamped: false, plan } as const
  const consumer = await startWorker(spec)
  const rawMemory = (await consumer.order({ do: 'memory' })) / BYTES_PER_MB
  onProgress('a slow consumer')
  await consumer.order({ do: 'join', group: settings.topic })
  await sleep(sides.runtime, forMs)
  const memory = (await consumer.order({ do: 'memory' })) / BYTES_PER_MB
  await consumer.order({ do: 'leave' })
  onProgress('sending beside a frozen consumer')
  const sending = await compareFrozen(sides, settings, consumer)
  const rows: BenchRow[] = [
    {
      work: 'memory of a slow consumer',
      ours: memory,
      raw: rawMemory,
      ratio: rawMemory / memory,
      unit: 'MB',
      fair: null,
    },
    rateRow('sending beside a frozen consumer', sending),
  ]
  return {
    kind: 'backlog',
    settings: { ...commonSettings(settings), ...planSettings(plan), forMs },
    rows,
    metrics: { memory, 'raw.memory': rawMemory, rate: sending.rate, raw: sending.raw, ratio: sending.ratio },
  }
}

function compareFrozen(
  { producer, runtime }: Pick<SendSides, 'producer' | 'runtime'>,
  settings: BenchSettings,
  consumer: BenchWorker,
) {
  const source = new MessageSource(settings, runtime.random)
  const count = Math.max(1, Math.round(settings.messages / ROUNDS_SHARE))
  const send = () => measureSend(producer, 'bulk', source.take(count).messages, settings.batch, runtime)
  const beside = async () => {
    await consumer.order({ do: 'join', group: settings.topic })
    await sleep(runtime, JOINED_MS)
    await consumer.order({ do: 'freeze' })
    try {
      return await send()
    } finally {
      await consumer.thaw()
      await consumer.order({ do: 'leave' })
    }
  }
  return compareInRounds(beside, send, BENCH_ROUNDS)
}
