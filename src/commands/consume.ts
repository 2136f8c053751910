import { string } from '@oclif/core/args'
import { boolean, integer, option, string as stringFlag } from '@oclif/core/flags'
import {
  ALLOCATE_STRATEGY_NAMES,
  type Broker,
  ConcurrentConsumer,
  type ConsumerOptions,
  ExecHandler,
  type Handler,
  ModuleHandler,
  ON_EXHAUSTED,
  OrderlyConsumer,
  PipeHandler,
  systemRuntime,
} from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import {
  type ConsumeFlags,
  checkConsumeFlags,
  concurrentOptions,
  fromFlag,
  orderlyOptions,
  parseTopics,
} from '../ui/consume-options.ts'
import { ConsumerReport } from '../ui/consumer-report.ts'
import { durationFlag, groupFlag } from '../ui/flags.ts'
import { HeldNotes } from '../ui/held-notes.ts'
import { messageFormatFlags, messageFormatter } from '../ui/message-format.ts'
import { refuseDisabled } from '../ui/refuse-disabled.ts'
import { listenForStop, stopExitCode } from '../ui/signals.ts'
import { keepHeapSmall } from '../ui/small-heap.ts'
import { StdoutHandler } from '../ui/stdout-handler.ts'

export default class Consume extends BaseCommand<typeof Consume> {
  static override summary = 'Consume topics as a member of a group.'
  static override description = [
    'Messages are handled --threads at once, in no order. With --orderly: one message of a queue at a ' +
      "time, in order, under the queue's lock, or one of each of --per-key N keys. The members of a group " +
      'share the queues; with --broadcast every member gets every message. Each message goes to stdout, to ' +
      'a command a message (--exec), to one long-lived command (--pipe) or to a module (--handler). It ' +
      'counts as consumed when it was written, or when its handler succeeded.',
    '--exec CMD runs through sh -c with the body on stdin and RMQ_MSG_ID, RMQ_TOPIC, RMQ_KEY … in its ' +
      'environment; with --batch above 1 stdin is NDJSON. Exit 0: done. 65: dead-letter now. 126 or 127: ' +
      'rmq stops, no attempt counts. Anything else, or a signal: failed, tried again.',
    '--pipe CMD gets one JSON record a line and answers each, in any order, with a line ' +
      '{"id":MSGID,"status":"success"}; other statuses are retry, dead-letter, commit and rollback, with ' +
      '"error" and "suspendMs" if wanted.',
    '--handler FILE runs its default export, (message, context) => status, in a thread of its own. No ' +
      'status is success, and an exception is retry.',
    'What fails: with --orderly it holds its queue (its key, with --per-key) and is tried again after ' +
      "--suspend, doubled each time up to --suspend-max, without end unless --max-reconsume N (or the group's " +
      'setting) allows N further tries. Without --orderly it comes again through the retry topic of the ' +
      "group, after RocketMQ's delays of 10s to 2h or after --suspend, 16 times. Then it is a dead letter; " +
      'with --on-exhausted park-key the later messages of its key follow it, until they are replayed; with ' +
      'block they wait for a person.',
    'With --manual-commit what succeeded is committed when the handler answers commit; rollback brings ' +
      'everything since the last commit again.',
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
    sql: stringFlag({
      description: 'Only messages whose properties satisfy this: "a > 3 and b = \'x\'".',
      helpValue: 'EXPR',
      exclusive: ['tag'],
    }),
    broadcast: boolean({ description: 'Every member gets every message, and keeps its own offsets.' }),
    from: fromFlag({
      description: 'Where a new group starts: earliest, latest or @TIME (default earliest).',
    }),
    exec: stringFlag({
      description: 'Run this command for each batch.',
      helpValue: 'CMD',
      exclusive: ['pipe'],
    }),
    pipe: stringFlag({ description: 'Run this command once and give it each message.', helpValue: 'CMD' }),
    handler: stringFlag({ description: 'Run the default export of this module.', helpValue: 'FILE' }),
    threads: integer({
      description: 'Handlers that run at once, without --orderly (default 20).',
      min: 1,
      max: 1000,
      helpValue: 'N',
    }),
    'per-key': integer({
      description: 'Keys of a queue that run at once, each in order (default 1).',
      min: 1,
      max: 1000,
      helpValue: 'N',
      dependsOn: ['orderly'],
    }),
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
    suspend: durationFlag({
      description: "Pause after a first failure (default the group's setting, 1s; without --orderly 10s).",
    }),
    'suspend-max': durationFlag({ description: 'Longest pause (default 30s).' }),
    'on-exhausted': option({ options: ON_EXHAUSTED })({
      description:
        'When no try is left: to the dead letters (default), wait for a person, or hold the key back.',
      dependsOn: ['orderly'],
    }),
    'manual-commit': boolean({
      description: 'Commit when the handler says so.',
      dependsOn: ['orderly'],
    }),
    'consume-timeout': durationFlag({
      description: 'A run that takes longer is sent back, without --orderly (default 15m).',
    }),
    trace: boolean({ description: 'Record deliveries in the journal of the group.' }),
    allocate: option({ options: ALLOCATE_STRATEGY_NAMES })({
      description: 'How queues are divided among the members; all need the same (default averagely).',
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
    "<%= config.bin %> consume orders -g index --threads 4 --pipe './index' --tag 'paid || shipped'",
    '<%= config.bin %> consume orders -g stock --orderly --per-key 8 --handler ./stock.mjs',
    '<%= config.bin %> consume orders -g audit --orderly -e --json | jq -r .key',
  ]

  async run(): Promise<void> {
    keepHeapSmall()
    // Before the group is joined: a filter that nobody understands must not become its subscription.
    checkConsumeFlags(this.flags as ConsumeFlags)
    const topics = parseTopics(this.args.topic)
    using stop = listenForStop()
    using notes = new HeldNotes((text) => this.say(text))
    const group = this.groupOrDefault(this.flags.group)
    const handler = this.#handler()
    // A file that is not there has no topics: it is not worth making one to find that out.
    const broker = await this.openBroker({ create: false })
    // Without an end it waits until the group is enabled again.
    if (this.flags['exit-at-end']) await refuseDisabled(broker, group)
    await this.#noteStart(broker, group, topics, notes)
    const report = await this.#report(broker, group, topics, notes)
    const consumer = this.#consumer(broker, { group, topics, onEvent: (event) => report.event(event) })
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

  #consumer(broker: Broker, options: ConsumerOptions): ConcurrentConsumer | OrderlyConsumer {
    const flags = this.flags as ConsumeFlags
    return flags.orderly
      ? new OrderlyConsumer(broker, { ...orderlyOptions(flags), ...options })
      : new ConcurrentConsumer(broker, { ...concurrentOptions(flags), ...options })
  }

  #handler(): Handler {
    const { exec, pipe, handler, batch = 1, ...look } = this.flags
    const onStderr = (chunk: Buffer) => void process.stderr.write(chunk)
    if (exec !== undefined) return new ExecHandler({ command: exec, batch, onStderr })
    if (pipe !== undefined) return new PipeHandler({ command: pipe, onStderr })
    if (handler !== undefined) return new ModuleHandler({ file: handler, batch, onStderr })
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
      holds: (this.flags['per-key'] ?? 1) > 1 ? 'key' : 'queue',
      spread: this.flags.orderly && configs.some((config) => (config?.queues ?? 0) > 1),
    })
  }
}
