import { boolean, integer, option } from '@oclif/core/flags'
import {
  benchConsume,
  CONSUME_METRIC_NAMES,
  type ConsumePlan,
  measureHere,
  measureTeam,
  Producer,
  RmqError,
} from '../../core/index.ts'
import { feedBenchChild } from '../../ui/bench-child.ts'
import { BenchCommand } from '../../ui/bench-command.ts'
import { consumeByPlan } from '../../ui/bench-consumer.ts'
import { benchFlags, consumersFlag } from '../../ui/bench-flags.ts'
import { durationFlag } from '../../ui/flags.ts'

const MESSAGES = 200_000
const MESSAGES_WITH_WORK = 2_000

export default class BenchConsume extends BenchCommand<typeof BenchConsume> {
  static override summary = 'Measure consumption, beside plain better-sqlite3.'
  static override description =
    'Stores messages, then consumes them with a handler that does nothing, in turns with a bare read of ' +
    'the same tables that stores its offsets every 50 ms. What the mode promises is checked: the order of ' +
    'each queue or key, or that each message comes once.\n\n' +
    'With --work the bare side waits over the batches of each queue one after the other. With --pipe it is ' +
    'the same child process, given records in batches by a bare loop. With --tag-every all messages count, ' +
    'as all are read.\n\n' +
    'Figures for --assert: rate, raw, ratio.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --messages 1000000 --assert "ratio>=0.15"',
    '<%= config.bin %> <%= command.id %> --mode concurrent',
    '<%= config.bin %> <%= command.id %> --mode concurrent --pipe --batch 32 --assert "ratio>=0.25"',
    '<%= config.bin %> <%= command.id %> --tag-every 100 --assert "ratio>=0.5"',
    '<%= config.bin %> <%= command.id %> --per-key 8 --work 5ms --queues 1 --assert "ratio>=6"',
  ]
  static override flags = {
    messages: integer({
      description: `Messages to measure with (default ${MESSAGES}, with --work ${MESSAGES_WITH_WORK}).`,
      min: 1,
      helpValue: 'N',
    }),
    mode: option({ options: ['orderly', 'concurrent'] as const })({
      description: 'In order, or 20 handlers at once.',
      default: 'orderly' as const,
    }),
    'per-key': integer({
      description: 'Keys of a queue that run at once, each in order.',
      default: 1,
      min: 1,
      max: 1000,
      helpValue: 'N',
    }),
    batch: integer({
      description: 'Messages of one handler run.',
      default: 1,
      min: 1,
      max: 1024,
      helpValue: 'N',
    }),
    'tag-every': integer({
      description: 'Consume by a tag that every N-th message has.',
      default: 1,
      min: 1,
      helpValue: 'N',
    }),
    work: durationFlag({
      description: 'How long the handler waits over each batch.',
      exclusive: ['tag-every'],
    }),
    pipe: boolean({
      description: 'The handler is a piped process.',
      exclusive: ['work', 'tag-every'],
    }),
    consumers: consumersFlag(),
    ...benchFlags,
  }

  async run(): Promise<void> {
    const { assert, consumers, size, queues, keys, durability, seed } = this.flags
    const plan = this.#plan()
    const messages = this.flags.messages ?? (plan.workMs > 0 ? MESSAGES_WITH_WORK : MESSAGES)
    await this.bench(
      { messages, size, queues, keys, batch: 1000, durability, seed },
      { names: CONSUME_METRIC_NAMES, assertions: assert },
      async ({ settings, broker, baseline, processes, paths, onProgress }) => {
        const { runtime } = broker
        const here = measureHere(runtime, plan, (group, count, onMessage) =>
          consumeByPlan(broker, plan, { group, topic: settings.topic, count, onMessage }),
        )
        const team = {
          role: 'consumer',
          side: 'ours',
          path: paths.ours,
          settings,
          stamped: false,
          plan,
        } as const
        const consume =
          consumers === 1 ? here : measureTeam(await processes.startTeam(team, consumers), runtime)
        const pipe = (count: number) => feedBenchChild(count, { batch: plan.batch, size })
        const sides = { producer: new Producer(broker, {}), baseline, consume, pipe, runtime }
        return benchConsume(sides, settings, plan, onProgress)
      },
    )
  }

  #plan(): ConsumePlan {
    const { mode, 'per-key': perKey, batch, 'tag-every': tagEvery, work: workMs = 0, pipe } = this.flags
    if (mode === 'concurrent' && perKey > 1) {
      throw new RmqError('INVALID_ARGUMENT', '--per-key needs --mode orderly', {
        why: 'the concurrent service keeps no order, not even that of a key',
      })
    }
    return { mode, perKey, batch, tagEvery, workMs, pipe }
  }
}
