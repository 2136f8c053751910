import {
  benchConsume,
  CONSUME_METRIC_NAMES,
  measureHere,
  measureTeam,
  OrderlyConsumer,
  Producer,
} from '../../core/index.ts'
import { BenchCommand } from '../../ui/bench-command.ts'
import { benchFlags, consumersFlag, messagesFlag } from '../../ui/bench-flags.ts'

export default class BenchConsume extends BenchCommand<typeof BenchConsume> {
  static override summary = 'Measure orderly consumption, beside plain better-sqlite3.'
  static override description =
    'Stores messages, then consumes them in order with a handler that does nothing, in turns with a ' +
    'bare read of the same tables that stores its offsets every 50 ms. The order of each queue is ' +
    'checked.\n\n' +
    'Figures for --assert: rate, raw, ratio.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --messages 1000000 --assert "ratio>=0.15"',
  ]
  static override flags = {
    messages: messagesFlag(200_000),
    consumers: consumersFlag(),
    ...benchFlags,
  }

  async run(): Promise<void> {
    const { assert, consumers, messages, size, queues, keys, durability, seed } = this.flags
    await this.bench(
      { messages, size, queues, keys, batch: 1000, durability, seed },
      { names: CONSUME_METRIC_NAMES, assertions: assert },
      async ({ settings, broker, baseline, processes, paths, onProgress }) => {
        const { runtime } = broker
        const here = measureHere(runtime, (group, count, onMessage) =>
          new OrderlyConsumer(broker, { group, topics: [settings.topic], count }).start((batch) => {
            for (const message of batch) onMessage(message)
          }),
        )
        const team = { role: 'consumer', side: 'ours', path: paths.ours, settings, stamped: false } as const
        const consume =
          consumers === 1 ? here : measureTeam(await processes.startTeam(team, consumers), runtime)
        return benchConsume(
          { producer: new Producer(broker, {}), baseline, consume, runtime },
          settings,
          onProgress,
        )
      },
    )
  }
}
