import { string } from '@oclif/core/args'
import { boolean, integer, string as stringFlag } from '@oclif/core/flags'
import { RmqError } from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { offsetRangeFlag } from '../ui/flags.ts'
import { messageFormatFlags, messageFormatter } from '../ui/message-format.ts'
import { peekMessages } from '../ui/peek-messages.ts'

const COUNT_DEFAULT = 10

export default class Peek extends BaseCommand<typeof Peek> {
  static override summary = 'Look at messages without consuming them.'
  static override description =
    'Needs no group and leaves no trace: no offset moves, no lock is taken. Queue by queue, in offset order.'
  static override args = {
    topic: string({ description: 'The topic.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    queue: integer({ char: 'p', description: 'Only this queue.', min: 0, helpValue: 'ID' }),
    offset: offsetRangeFlag({
      char: 'o',
      description:
        'Where to begin in each queue: earliest, latest, 120, +10, -10, @TIME, or a range A:B (default earliest).',
    }),
    count: integer({
      char: 'c',
      description: 'At most so many messages in all, 0 for no limit (default 10).',
      min: 0,
      helpValue: 'N',
    }),
    tag: stringFlag({ description: "Only messages of these tags: 'A || B'.", helpValue: 'EXPR' }),
    key: stringFlag({
      description: 'Only messages of this ordering or lookup key, exactly.',
      helpValue: 'KEY',
    }),
    'fail-empty': boolean({ description: 'Exit 7 when there is none.' }),
    ...messageFormatFlags,
  }
  static override examples = [
    '<%= config.bin %> peek orders',
    '<%= config.bin %> peek orders -p 3 -o -5',
    "<%= config.bin %> peek orders -o @-15m:latest -c 0 --json | jq -r '.body'",
  ]

  async run(): Promise<void> {
    const { queue, offset, count, tag, key, 'fail-empty': failEmpty, ...look } = this.flags
    const format = messageFormatter({ ...look, terminal: this.out.terminal, color: this.out.color })
    const broker = await this.openBroker({ create: false })
    const messages = peekMessages(broker, {
      topic: this.args.topic,
      queueId: queue,
      range: offset ?? { from: { kind: 'earliest' }, to: null },
      count: (count ?? COUNT_DEFAULT) || Number.POSITIVE_INFINITY,
      tags: tag,
      key,
    })
    let printed = 0
    for await (const message of messages) await this.out.write(format(message, ++printed))
    if (printed > 0) return
    if (failEmpty) throw new RmqError('EMPTY', `topic ${this.args.topic} has no such message`)
    this.say('no messages')
  }
}
