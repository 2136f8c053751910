import { benchFair, benchSend, Producer, sendMetricNames } from '../../core/index.ts'
import { BenchCommand } from '../../ui/bench-command.ts'
import { batchFlag, benchFlags, messagesFlag, producersFlag } from '../../ui/bench-flags.ts'

export default class BenchSend extends BenchCommand<typeof BenchSend> {
  static override summary = 'Measure sending, beside plain better-sqlite3.'
  static override description =
    'Sends keyed messages in batches, with 64 sends in flight, and one at a time, each in turns with ' +
    'bare better-sqlite3 on the same tables, and prints both rates and their ratio. With --producers ' +
    "N also N processes against each other: FAIR is the slowest one's share of the fastest one's " +
    'rate.\n\n' +
    'Figures for --assert: rate, raw, ratio (and fair) of the batches; the same with pipelined. or ' +
    'single. in front.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --producers 8',
    '<%= config.bin %> <%= command.id %> --messages 500000 --size 1KiB --assert "ratio>=0.25"',
  ]
  static override flags = {
    messages: messagesFlag(200_000),
    batch: batchFlag(),
    producers: producersFlag(),
    ...benchFlags,
  }

  async run(): Promise<void> {
    const { assert, producers, messages, size, queues, keys, batch, durability, seed } = this.flags
    await this.bench(
      { messages, size, queues, keys, batch, durability, seed },
      { names: sendMetricNames(producers), assertions: assert },
      ({ settings, broker, baseline, processes, paths, onProgress }) => {
        const sides = { producer: new Producer(broker, {}), baseline, runtime: broker.runtime }
        if (producers === 1) return benchSend(sides, settings, onProgress)
        const contest = { producers, settings, path: paths.ours, startWorker: processes.start, onProgress }
        return benchFair(sides, contest)
      },
    )
  }
}
