import { string } from '@oclif/core/args'
import { boolean, integer, option, string as stringFlag } from '@oclif/core/flags'
import {
  type Broker,
  ExecHandler,
  type Handler,
  OrderlyConsumer,
  PipeHandler,
  parseTagExpression,
  RmqError,
  systemRuntime,
} from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { type ConsumeFlags, consumerOptions, fromFlag, parseTopics } from '../ui/consume-options.ts'
import { ConsumerReport } from '../ui/consumer-report.ts'
import { durationFlag, groupFlag } from '../ui/flags.ts'
import { HeldNotes } from '../ui/held-notes.ts'
import { messageFormatFlags, messageFormatter } from '../ui/message-format.ts'
import { listenForStop, stopExitCode } from '../ui/signals.ts'
import { keepHeapSmall } from '../ui/small-heap.ts'
import { StdoutHandler } from '../ui/stdout-handler.ts'

const HANDLERS = ['exec', 'pipe', 'format', 'raw', 'raw0']

export default class Consume extends BaseCommand<typeof Consume> {
  static override summary = 'Consume topics as a member of a group.'
  static override description = [
    "With --orderly: one message of a queue at a time, in order, under the queue's lock; the members " +
      'of a group share the queues. Each message goes to stdout, to a command a message (--exec) or to ' +
      'one long-lived command (--pipe). It counts as consumed when it was written, or when its handler ' +
      'succeeded.',
    '--exec CMD runs through sh -c with the body on stdin and RMQ_MSG_ID, RMQ_TOPIC, RMQ_KEY … in its ' +
      'environment; with --batch above 1 stdin is NDJSON. Exit 0: done. 65: dead-letter now. 126 or 127: ' +
      'rmq stops, no attempt counts. Anything else, or a signal: failed, tried again.',
    '--pipe CMD gets one JSON record a line and answers each with a line ' +
      '{"id":MSGID,"status":"success"}; other statuses are retry and dead-letter, with "error" and ' +
      '"suspendMs" if wanted.',
    'A failed message holds its queue and is tried again after --suspend, doubled each time up to ' +
      "--suspend-max, without end unless --max-reconsume N (or the group's setting) allows N further " +
      'tries; then it goes to the dead letters.',
    'The first SIGINT, SIGTERM or SIGHUP stops cleanly, exit 0; a stop that runs out of ' +
      '--drain-timeout, and a second signal, exit 128 + signal.',
  ].join('\n\n')
  static override args = {
    topic: string({
      description: 'The topic, or several: orders,payments.',
      required: true,
      ignoreStdin: true,
    }),
  }
  static override flags = {
    group: groupFlag(),
    orderly: boolean({ description: "In order, under the queues' locks." }),
    tag: stringFlag({ description: "Only messages of these tags: 'A || B'.", helpValue: 'EXPR' }),
    from: fromFlag({
      description: 'Where a new group starts: earliest, latest or @TIME (default earliest).',
    }),
    exec: stringFlag({
      description: 'Run this command for each batch.',
      helpValue: 'CMD',
      exclusive: ['pipe'],
    }),
    pipe: stringFlag({ description: 'Run this command once and give it each message.', helpValue: 'CMD' }),
    batch: integer({
      description: 'Messages of one handler run (default 1).',
      min: 1,
      max: 1024,
      helpValue: 'N',
    }),
    'max-reconsume': integer({
      description: "Further tries after the first, -1 for no end (default the group's setting).",
      min: -1,
      helpValue: 'N',
    }),
    suspend: durationFlag({ description: "Pause after a first failure (default the group's setting, 1s)." }),
    'suspend-max': durationFlag({ description: 'Longest pause (default 30s).' }),
    'on-exhausted': option({ options: ['dlq', 'block'] as const })({
      description: 'When no try is left: to the dead letters, or wait for a person (default dlq).',
    }),
    'lock-ttl': durationFlag({ description: 'Life of a lock without renewal (default 60s).' }),
    'client-id': stringFlag({
      description: 'Name of this member (default unique by construction).',
      env: 'RMQ_CLIENT_ID',
      helpValue: 'ID',
    }),
    count: integer({ char: 'c', description: 'End after so many messages.', min: 1, helpValue: 'N' }),
    'exit-at-end': boolean({ char: 'e', description: 'End where the queues ended at the start.' }),
    'idle-timeout': durationFlag({ description: 'End when nothing came for so long.' }),
    'drain-timeout': durationFlag({
      description: 'How long a stop waits for running handlers (default 10s).',
    }),
    ...messageFormatFlags,
  }
  static override examples = [
    '<%= config.bin %> consume orders -g mailer --orderly',
    "<%= config.bin %> consume orders -g mailer --orderly --exec './send-mail' --max-reconsume 3",
    '<%= config.bin %> consume orders -g audit --orderly -e --json | jq -r .key',
  ]

  async run(): Promise<void> {
    keepHeapSmall()
    this.#check()
    const topics = parseTopics(this.args.topic)
    using stop = listenForStop()
    using notes = new HeldNotes((text) => this.say(text))
    const group = this.groupOrDefault(this.flags.group)
    const handler = this.#handler()
    // A file that is not there has no topics: it is not worth making one to find that out.
    const broker = await this.openBroker({ create: false })
    await this.#noteStart(broker, group, topics, notes)
    const report = await this.#report(broker, group, topics, notes)
    const consumer = new OrderlyConsumer(broker, {
      ...consumerOptions(this.flags as ConsumeFlags),
      group,
      topics,
      onEvent: (event) => report.event(event),
    })
    try {
      const summary = await consumer.start(report.watch(handler), { signal: stop.signal })
      notes.release()
      const signal = stop.received()
      this.say(report.summary(summary, signal))
      if (!summary.drained && signal !== undefined) process.exitCode = stopExitCode(signal)
    } catch (error) {
      if (handler instanceof StdoutHandler && handler.isReaderGone) return
      throw error
    }
  }

  #check(): void {
    const { flags } = this
    if (!flags.orderly) {
      throw new RmqError('INVALID_ARGUMENT', 'concurrent consumption is not in this version of rmq', {
        why: 'without --orderly messages would be handled concurrently',
        hint: `add --orderly: rmq consume ${this.args.topic} --orderly`,
      })
    }
    // Before the group is joined: a filter that nobody understands must not become its subscription.
    if (flags.tag !== undefined) parseTagExpression(flags.tag)
    const handlers = HANDLERS.filter((name) => flags[name as keyof typeof flags])
    if (handlers.length > 1) {
      throw new RmqError(
        'INVALID_ARGUMENT',
        `${handlers.map((name) => `--${name}`).join(' and ')} exclude each other`,
        {
          why: 'a message has one handler: stdout, --exec or --pipe',
          hint: 'keep one of them',
        },
      )
    }
  }

  #handler(): Handler {
    const { exec, pipe, batch = 1, ...look } = this.flags
    const onStderr = (chunk: Buffer) => void process.stderr.write(chunk)
    if (exec !== undefined) return new ExecHandler({ command: exec, batch, onStderr })
    if (pipe !== undefined) return new PipeHandler({ command: pipe, onStderr })
    return new StdoutHandler(
      messageFormatter({ ...look, terminal: this.out.terminal, color: this.out.color }),
    )
  }

  /** Where a group starts decides what it never sees: it is said when nobody chose it. */
  async #noteStart(
    broker: Broker,
    group: string,
    topics: readonly string[],
    notes: HeldNotes,
  ): Promise<void> {
    if (this.flags.from !== undefined) return
    const known = (await broker.groupConfig(group)) === undefined ? [] : await broker.groupTopics(group)
    const unknown = topics.filter((topic) => !known.includes(topic))
    if (unknown.length === 0) return
    notes.add(
      `group ${group} is new on ${unknown.join(', ')} and starts at the earliest message (--from chooses)`,
    )
  }

  async #report(
    broker: Broker,
    group: string,
    topics: readonly string[],
    notes: HeldNotes,
  ): Promise<ConsumerReport> {
    const configs = await Promise.all(topics.map((topic) => broker.topicConfig(topic)))
    const before = (tell: (text: string) => void) => (text: string) => {
      notes.release()
      tell(text)
    }
    return new ConsumerReport({
      group,
      note: (text) => notes.add(text),
      say: before((text) => this.say(text)),
      caution: before((text) => this.caution(text)),
      now: () => systemRuntime.monotonic(),
      spread: configs.some((config) => (config?.queues ?? 0) > 1),
    })
  }
}
