import { benchE2e, E2E_METRIC_NAMES } from '../../core/index.ts'
import { BenchCommand } from '../../ui/bench-command.ts'
import { benchFlags, consumersFlag, messagesFlag, producersFlag } from '../../ui/bench-flags.ts'
import { rateFlag } from '../../ui/rate.ts'

export default class BenchE2e extends BenchCommand<typeof BenchE2e> {
  static override summary = 'Measure latency from one process to another.'
  static override description =
    'Producer processes send single messages at a steady rate, consumer processes take them in ' +
    'order. Latency is from just before the send to the start of the handler. In turns with it, the ' +
    'same with bare better-sqlite3 and the same wake-up. RATIO is the share of the bare latency in ' +
    'ours: 1 is as fast.\n\n' +
    'Figures for --assert: p50, p99, max, raw.p50, raw.p99, raw.max in milliseconds, and ratio of ' +
    'the p50.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --rate 200/s --durability normal --assert "p99<=10"',
  ]
  static override flags = {
    messages: messagesFlag(4_000),
    rate: rateFlag({ description: 'Sends of all producers together.', default: 1000 }),
    producers: producersFlag(),
    consumers: consumersFlag(),
    ...benchFlags,
  }

  async run(): Promise<void> {
    const { assert, producers, consumers, rate, messages, size, queues, keys, durability, seed } = this.flags
    await this.bench(
      // The stamp of its sending has to fit into a body.
      { messages, size: Math.max(8, size), queues, keys, batch: 1, durability, seed },
      { names: E2E_METRIC_NAMES, assertions: assert },
      ({ settings, broker, processes, paths, onProgress }) =>
        benchE2e({
          settings,
          producers,
          consumers,
          perSecond: rate,
          runtime: broker.runtime,
          startWorker: processes.start,
          paths,
          onProgress,
        }),
    )
  }
}
