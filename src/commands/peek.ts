import { string } from '@oclif/core/args'
import { boolean, integer, string as stringFlag } from '@oclif/core/flags'
import { type OffsetRange, RmqError } from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { keyFlag, offsetRangeFlag } from '../ui/flags.ts'
import { followMessages } from '../ui/follow-messages.ts'
import { messageFormatFlags, messageFormatter } from '../ui/message-format.ts'
import { checkPeekFilter, peekMessages } from '../ui/peek-messages.ts'
import { listenForStop } from '../ui/signals.ts'

const COUNT_DEFAULT = 10

export default class Peek extends BaseCommand<typeof Peek> {
  static override summary = 'Look at messages without consuming them.'
  static override description = [
    'Needs no group and leaves no trace: no offset moves, no lock is taken. Queue by queue, in offset order.',
    'With --follow: what is there from --offset on, then what arrives in any queue, in order within each ' +
      'queue, until SIGINT, SIGTERM or SIGHUP, or until --count of them were printed: exit 0.',
  ].join('\n\n')
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
      description: 'At most so many messages in all, 0 for no limit (default 10, with --follow 0).',
      min: 0,
      helpValue: 'N',
    }),
    tag: stringFlag({
      description: "Only messages of these tags: 'A || B'.",
      helpValue: 'EXPR',
      exclusive: ['sql'],
    }),
    sql: stringFlag({
      description: 'Only messages whose properties match: "a > 3 and b = \'x\'".',
      helpValue: 'EXPR',
    }),
    key: keyFlag({ description: 'Only messages of this ordering or lookup key, exactly.' }),
    follow: boolean({ description: 'Go on with what arrives.' }),
    'fail-empty': boolean({ description: 'Exit 7 when there is none.', exclusive: ['follow'] }),
    ...messageFormatFlags,
  }
  static override examples = [
    '<%= config.bin %> peek orders',
    '<%= config.bin %> peek orders -p 3 -o -5',
    "<%= config.bin %> peek orders -o @-15m:latest -c 0 --json | jq -r '.body'",
    `<%= config.bin %> peek orders --sql "region IN ('eu', 'us') AND total > 100"`,
    '<%= config.bin %> peek orders --follow -o latest',
  ]

  async run(): Promise<void> {
    const { queue, offset, count, tag, sql, key, follow, 'fail-empty': failEmpty, ...look } = this.flags
    const format = messageFormatter({ ...look, terminal: this.out.terminal, color: this.out.color })
    const filter = { topic: this.args.topic, queueId: queue, tags: tag, sql, key }
    checkPeekFilter(filter)
    const range = offset ?? { from: { kind: 'earliest' }, to: null }
    const most = (count ?? (follow ? 0 : COUNT_DEFAULT)) || Number.POSITIVE_INFINITY
    if (follow) refuseEnd(range)
    using stop = follow ? listenForStop() : undefined
    const broker = await this.openBroker({ create: false })
    const messages = stop
      ? followMessages(broker, { ...filter, from: range.from }, stop.signal)
      : peekMessages(broker, { ...filter, range })
    let printed = 0
    for await (const message of messages) {
      await this.out.write(format(message, ++printed))
      if (printed >= most) break
    }
    if (printed > 0 || follow) return
    if (failEmpty) throw new RmqError('EMPTY', `topic ${this.args.topic} has no such message`)
    this.say('no messages')
  }
}

function refuseEnd({ to }: OffsetRange): void {
  if (to === null) return
  throw new RmqError('INVALID_ARGUMENT', '--follow has no end, and --offset names one', {
    why: 'a range A:B ends at B',
    hint: 'give --offset A alone, or leave --follow out',
  })
}
