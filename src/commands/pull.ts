import { string } from '@oclif/core/args'
import { boolean, integer, string as stringFlag } from '@oclif/core/flags'
import { type Broker, checkSubscription, type MessageExt, RmqError } from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { durationFlag, groupFlag } from '../ui/flags.ts'
import { heldQueueNotes } from '../ui/held-queues.ts'
import { messageFormatFlags, messageFormatter } from '../ui/message-format.ts'
import { selectedQueues } from '../ui/peek-messages.ts'
import { type PullCommandOptions, pullAndAck, pullWithoutAck } from '../ui/pull-messages.ts'
import { formatPlural } from '../ui/quantities.ts'
import { refuseDisabled } from '../ui/refuse-disabled.ts'
import { listenForStop, stopExitCode } from '../ui/signals.ts'
import { StdoutWriter } from '../ui/stdout-writer.ts'

const COUNT_DEFAULT = 32

export default class Pull extends BaseCommand<typeof Pull> {
  static override summary = 'Take the next messages of a group, once.'
  static override description = [
    "Prints up to --count messages from the group's committed offsets on, queue by queue, and commits them " +
      'when all of them are written: when the reader of stdout goes away before, or the process is killed, ' +
      'nothing is committed and they come again. Replayed dead letters of a queue come first.',
    "Works under the queues' locks. Queues that other members of the group hold are left out, and stderr " +
      'says who holds them; when all are held: exit 4. A group that is new on the topic starts at the ' +
      'earliest message.',
    '--no-ack looks only: it moves nothing, takes no lock, and does not see replayed dead letters.',
    'SIGINT and SIGTERM cut it short: what was printed is committed, exit 128 + signal.',
  ].join('\n\n')
  static override args = {
    topic: string({ description: 'The topic.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    group: groupFlag(),
    queue: integer({ char: 'p', description: 'Only this queue.', min: 0, helpValue: 'ID' }),
    count: integer({
      char: 'c',
      description: `At most so many messages (default ${COUNT_DEFAULT}).`,
      min: 1,
      helpValue: 'N',
    }),
    wait: durationFlag({ description: 'How long to wait when there is none (default not at all).' }),
    ack: boolean({ description: 'Commit what was printed, the default.', allowNo: true, default: true }),
    tag: stringFlag({
      description: "Only messages of these tags: 'A || B'; others are passed over.",
      helpValue: 'EXPR',
      exclusive: ['sql'],
    }),
    sql: stringFlag({
      description: 'Only messages whose properties match: "a > 3 and b = \'x\'".',
      helpValue: 'EXPR',
    }),
    'fail-empty': boolean({ description: 'Exit 7 when there is none.' }),
    ...messageFormatFlags,
  }
  static override examples = [
    '<%= config.bin %> pull orders -g audit',
    '<%= config.bin %> pull orders -g audit -c 1 --wait 30s --json',
    '<%= config.bin %> pull orders -g audit -p 3 --no-ack',
  ]

  async run(): Promise<void> {
    const format = messageFormatter({ ...this.flags, terminal: this.out.terminal, color: this.out.color })
    this.#checkFilter()
    const group = this.groupOrDefault(this.flags.group)
    using stop = listenForStop()
    const broker = await this.openBroker({ create: false })
    // What is not there is said before anything about the group is.
    selectedQueues(await broker.queueStats(this.args.topic), {
      topic: this.args.topic,
      queueId: this.flags.queue,
    })
    await refuseDisabled(broker, group)
    await this.#noteStart(broker, group)
    const writer = new StdoutWriter()
    let printed = 0
    const print = async (messages: readonly MessageExt[]) => {
      await Promise.all(messages.map((message) => writer.write(format(message, ++printed))))
    }
    try {
      await this.#pull(broker, { ...this.#options(group), signal: stop.signal, print })
    } catch (error) {
      if (writer.isReaderGone) return
      if (printed > 0 && this.flags.ack) {
        this.caution(
          `${formatPlural(printed, 'message')} printed, not all of them are committed: they come again`,
        )
      }
      throw error
    } finally {
      await writer.close()
    }
    const signal = stop.received()
    if (signal !== undefined) process.exitCode = stopExitCode(signal)
    else if (printed === 0) this.#nothing(group)
  }

  #pull(broker: Broker, options: PullCommandOptions): Promise<number> {
    if (!this.flags.ack) return pullWithoutAck(broker, options)
    return pullAndAck(broker, {
      ...options,
      onHeld: (held) => {
        for (const note of heldQueueNotes(held)) this.say(note)
      },
      onEvent: (event) => {
        if (event.kind === 'notice') this.caution(event.text)
        if (event.kind === 'offset-moved') {
          const { mq, from, to } = event
          this.caution(`queue ${mq.queueId} goes on at offset ${to}: ${from} is not there (any more)`)
        }
      },
    })
  }

  #options(group: string): Omit<PullCommandOptions, 'signal' | 'print'> {
    const { queue, tag, sql, count = COUNT_DEFAULT, wait = 0 } = this.flags
    return { topic: this.args.topic, group, queueId: queue, tags: tag, sql, count, waitMs: wait }
  }

  /** Before the group is joined. INVALID_ARGUMENT. */
  #checkFilter(): void {
    const { tag, sql } = this.flags
    const { topic } = this.args
    if (tag !== undefined) checkSubscription({ topic, expressionType: 'TAG', expression: tag })
    if (sql !== undefined) checkSubscription({ topic, expressionType: 'SQL92', expression: sql })
  }

  async #noteStart(broker: Broker, group: string): Promise<void> {
    const { topic } = this.args
    const known = (await broker.groupConfig(group)) === undefined ? [] : await broker.groupTopics(group)
    if (!known.includes(topic))
      this.say(`group ${group} is new on ${topic} and starts at the earliest message`)
  }

  #nothing(group: string): void {
    if (this.flags['fail-empty']) {
      throw new RmqError('EMPTY', `topic ${this.args.topic} has no message for group ${group}`)
    }
    this.say('no messages')
  }
}
