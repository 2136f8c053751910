import { BACKLOG_METRIC_NAMES, benchBacklog, PLAIN_PLAN, Producer } from '../../core/index.ts'
import { BenchCommand } from '../../ui/bench-command.ts'
import { batchFlag, benchFlags, messagesFlag } from '../../ui/bench-flags.ts'
import { durationFlag } from '../../ui/flags.ts'

const WORK_MS = 5
const FOR_MS = 10_000

export default class BenchBacklog extends BenchCommand<typeof BenchBacklog> {
  static override summary = 'Measure a slow consumer in front of many messages.'
  static override description =
    'Stores messages, then lets a process consume them with 20 slow handlers at once. The first line is the ' +
    'most memory that the process took, RAW that of the same process before it joined the group. The ' +
    'second is the rate of a producer while that process is frozen by SIGSTOP, RAW that without it, in ' +
    'turns.\n\n' +
    'Figures for --assert: memory and raw.memory in megabytes; rate, raw and ratio of the producer.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --assert "memory<=200" --assert "ratio>=0.9"',
  ]
  static override flags = {
    messages: messagesFlag(1_000_000),
    work: durationFlag({ description: 'How long a handler waits over each message (default 5ms).' }),
    for: durationFlag({
      description: 'How long the consumer works before its memory is read (default 10s).',
    }),
    batch: batchFlag(),
    ...benchFlags,
  }

  async run(): Promise<void> {
    const {
      assert,
      messages,
      work: workMs = WORK_MS,
      for: forMs = FOR_MS,
      batch,
      size,
      queues,
      keys,
      durability,
      seed,
    } = this.flags
    const plan = { ...PLAIN_PLAN, mode: 'concurrent', workMs } as const
    await this.bench(
      { messages, size, queues, keys, batch, durability, seed },
      { names: BACKLOG_METRIC_NAMES, assertions: assert },
      ({ settings, broker, processes, paths, onProgress }) =>
        benchBacklog(
          { producer: new Producer(broker, {}), runtime: broker.runtime },
          { settings, plan, forMs, startWorker: processes.start, path: paths.ours, onProgress },
        ),
    )
  }
}
