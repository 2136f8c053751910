import { string } from '@oclif/core/args'
import { boolean, integer, option, string as stringFlag } from '@oclif/core/flags'
import {
  BODY_BYTES_MAX,
  type Broker,
  Pace,
  Producer,
  type ProducerOptions,
  SELECTOR_NAMES,
  systemRuntime,
} from '../core/index.ts'
import { BaseCommand } from '../ui/base-command.ts'
import { durationFlag, keyFlag, timeFlag } from '../ui/flags.ts'
import type { BatchProducer } from '../ui/input/batch-sender.ts'
import { openInput, readWhole } from '../ui/input/input-source.ts'
import { withTemplate } from '../ui/input/message-template.ts'
import { OnewaySender } from '../ui/input/oneway-sender.ts'
import { delimiterOf, INPUT_FORMATS, recordReader } from '../ui/input/record-reader.ts'
import { type SendRun, sendAtomically, sendRecords, sendRepeatedly } from '../ui/input/send-records.ts'
import { Progress } from '../ui/progress.ts'
import { rateFlag } from '../ui/rate.ts'
import { afterSome, unsentNote } from '../ui/send-failure.ts'
import { type SendPlan, sendPlan } from '../ui/send-plan.ts'
import { SendReport, type SendReportForm } from '../ui/send-report.ts'
import { listenForStop, stopExitCode } from '../ui/signals.ts'

export default class Send extends BaseCommand<typeof Send> {
  static override summary = 'Send messages to a topic.'
  static override description = [
    'One message from BODY or --file, or one from each record of stdin. Messages of a key go to one ' +
      'queue, in the order in which they are sent. A message is stored and durable when its line is ' +
      'printed: msgId, queue, offset. With --json: {"sent":[…]} for one message, else a line of JSON for ' +
      'each. With -q, without --json, nothing is printed.',
    'A topic that does not exist is created with 8 queues, unless --no-create.',
    'Formats of stdin, or of --file together with --input: lines, the default for a pipe: each line is ' +
      'a body, its bytes as they are, a CR too; an empty line is a message of 0 bytes; a last line ' +
      'without a newline counts. raw0: the same with NUL in place of the newline.',
    'ndjson: an object with "body" (a string, or any JSON value: its text is kept as it is) or ' +
      '"bodyBase64", and any of key, keys, tags, properties, and one of delay ("10s"), delayLevel, ' +
      'deliverAt. Any other line is itself the body; blank ' +
      'lines are skipped. What the command line says beats what a line says, the topic always. Fields ' +
      'that a broker gives are ignored, so what consume --json prints can be sent.',
    'A delayed message is durable too when its line is printed: msgId, queue, and when it is due in place ' +
      'of its offset. It comes to its queue when it is due, never before, while any rmq client runs, or ' +
      'as soon as one does. Order per key is the order of delivery: messages of its key that come to the ' +
      'queue meanwhile are in front of it.',
    'With --oneway you learn neither ids nor offsets, and which message was lost neither: one that cannot ' +
      'be stored does not stop the others. The command still ends only when each is stored or lost, and ' +
      'says how many were lost: exit 6, or that of the error when none was stored.',
    'A bad line ends it: exit 6 when messages before it were sent, 2 when none was. With --atomic all ' +
      'are stored or none; all of them are held in memory until then. SIGINT sends what was read whole ' +
      'and exits 130. An argument holds up to 128 KiB: larger bodies come by stdin or file.',
  ].join('\n\n')
  static override args = {
    topic: string({ description: 'The topic.', required: true, ignoreStdin: true }),
    body: string({ description: 'The body of one message.', ignoreStdin: true }),
  }
  static override flags = {
    key: keyFlag({ description: 'Ordering key: all messages of a key go to one queue.' }),
    selector: option({ options: SELECTOR_NAMES })({
      description:
        'How the queue is chosen (default hash with a key, else round-robin; mod: integer key % queues).',
      exclusive: ['queue'],
    }),
    queue: integer({ char: 'p', description: 'Send to this queue.', min: 0, helpValue: 'ID' }),
    keys: stringFlag({
      description: 'Lookup keys, comma separated (default the ordering key).',
      helpValue: 'A,B',
    }),
    tag: stringFlag({ description: 'The tag that consumers filter by.', helpValue: 'TAG' }),
    property: stringFlag({
      description: 'A property; all behind the first = is its value. Repeatable, a name only once.',
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'NAME=VALUE',
    }),
    delay: durationFlag({
      description: 'Deliver the message that long after it is stored: 10s, 15m. It is stored at once.',
      exclusive: ['delay-level', 'deliver-at'],
    }),
    'delay-level': integer({
      description:
        "RocketMQ's delay level 1 to 18: 1s 5s 10s 30s 1m to 10m 20m 30m 1h 2h; a larger one counts as 18.",
      exclusive: ['delay', 'deliver-at'],
      min: 1,
      helpValue: 'N',
    }),
    'deliver-at': timeFlag({
      description:
        'Deliver the message at this time, or now if it has passed: 2026-08-01T10:00:00Z, epoch seconds or ' +
        'milliseconds; without a zone (2026-08-01, 2026-08-01#10:00:00:000) it is the local one.',
      exclusive: ['delay', 'delay-level'],
    }),
    file: stringFlag({ description: 'Take the body from a file, "-" is stdin.', helpValue: 'PATH' }),
    input: option({ options: INPUT_FORMATS })({
      description: 'Read several messages, from stdin or --file (default for a pipe: lines).',
    }),
    'key-delimiter': stringFlag({
      description: 'Each line is KEY, this text, BODY; a line without it is refused.',
      helpValue: 'TEXT',
    }),
    'key-field': stringFlag({ description: 'The key is this field of each NDJSON body.', helpValue: 'NAME' }),
    atomic: boolean({ description: 'Store all messages or none.' }),
    oneway: boolean({
      description:
        'Print no ids, try nothing again, and let a message that cannot be stored be lost; it is told at the end.',
      exclusive: ['atomic'],
    }),
    rate: rateFlag({ description: 'At most so many messages a time: 100/s.' }),
    count: integer({ char: 'c', description: 'Send the message so many times.', min: 1, helpValue: 'N' }),
    durability: option({ options: ['full', 'normal'] as const })({
      default: 'full',
      description:
        'full: acknowledged when it is on the disk. normal: safe against crashes, not against power cuts.',
    }),
    'no-create': boolean({ description: 'Fail when the topic does not exist.' }),
  }
  static override examples = [
    "<%= config.bin %> send orders 'paid' --key order-17",
    '<%= config.bin %> send orders --key order-17 --file invoice.pdf',
    'tail -f app.log | <%= config.bin %> send logs',
    'jq -c . events.json | <%= config.bin %> send events --input ndjson --key-field userId',
  ]

  async run(): Promise<void> {
    const plan = sendPlan(this.args.topic, this.args.body, this.flags, process.stdin.isTTY === true)
    using stop = listenForStop()
    const broker = await this.openBroker({ durability: this.flags.durability })
    const report = new SendReport(this.out, this.#form(plan), () => systemRuntime.monotonic())
    using progress = this.#progress(report)
    const producer = this.#producer(broker)
    try {
      await this.#send(plan, broker, this.#sendRun(producer, report, stop.signal))
    } catch (error) {
      progress.clear()
      const note = unsentNote(error, report.sent, this.flags.atomic)
      if (note !== undefined) this.say(note)
      throw afterSome(error, report.sent)
    }
    progress.clear()
    const signal = stop.received()
    if (signal !== undefined) process.exitCode = stopExitCode(signal)
    if (signal !== undefined || plan.kind === 'records' || plan.count > 1) {
      this.say(report.summary(this.args.topic))
    }
    if (producer instanceof OnewaySender) producer.refuseLoss(report.sent)
  }

  async #send(plan: SendPlan, broker: Broker, run: SendRun): Promise<void> {
    if (plan.kind === 'records') {
      const records = {
        input: openInput(plan.path),
        delimiter: delimiterOf(plan.format),
        read: recordReader(plan),
      }
      return await (this.flags.atomic ? sendAtomically(records, run) : sendRecords(records, run))
    }
    const body =
      'text' in plan.body ? plan.body.text : await this.#readBody(plan.body.path, broker, run.signal)
    if (run.signal.aborted) return
    const message = withTemplate(plan.template, { body })
    await sendRepeatedly(message, plan.count, run, { atomic: this.flags.atomic })
  }

  async #readBody(path: string, broker: Broker, signal: AbortSignal): Promise<Buffer> {
    const config = await broker.topicConfig(this.args.topic)
    return await readWhole(openInput(path), config?.maxBody ?? BODY_BYTES_MAX, signal)
  }

  #producer(broker: Broker): BatchProducer {
    const options: ProducerOptions = {
      createTopics: !this.flags['no-create'],
      onTopicCreated: ({ topic, queues }) =>
        this.say(`created topic ${topic} with ${queues} queues (rmq topics describe ${topic} shows it)`),
    }
    return this.flags.oneway ? new OnewaySender(broker, options) : new Producer(broker, options)
  }

  #sendRun(producer: BatchProducer, report: SendReport, signal: AbortSignal): SendRun {
    const { queue, selector, rate } = this.flags
    return {
      producer,
      send: {
        ...(queue === undefined ? undefined : { queueId: queue }),
        ...(selector === undefined ? undefined : { selector }),
      },
      pace: rate === undefined ? undefined : new Pace(rate, systemRuntime),
      signal,
      onSent: (messages, result) => report.sentBatch(messages, result),
    }
  }

  #form(plan: SendPlan): SendReportForm {
    if (this.flags.quiet || this.flags.oneway) return 'none'
    if (!this.flags.json) return 'text'
    return plan.kind === 'body' && plan.count === 1 ? 'document' : 'records'
  }

  #progress(report: SendReport): Progress {
    return new Progress({
      stream: process.stderr,
      env: process.env,
      wanted: !this.flags.quiet && !this.flags['no-progress'] && !this.out.terminal,
      text: () => report.progress(this.args.topic),
    })
  }
}
