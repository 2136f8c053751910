import { string } from '@oclif/core/args'
import { boolean, integer, string as stringFlag } from '@oclif/core/flags'
import { type Broker, type DeadLetterFilter, RmqError, replayDeadLetters } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { type DeadLetterRow, deadLetterColumns, deadLetterRow, deadLettersOf } from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags } from '../../ui/dlq-filters.ts'
import { destructiveFlags, groupFlag } from '../../ui/flags.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { Progress } from '../../ui/progress.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'
import { formatCount, formatPlural } from '../../ui/quantities.ts'
import { rateFlag } from '../../ui/rate.ts'
import { ReplayReport, shortfall, summaryText } from '../../ui/replay-report.ts'
import { listenForStop, stopExitCode } from '../../ui/signals.ts'

/** How many are shown to who did not say which ones to replay. */
const SHOWN_MAX = 20

export default class DlqReplay extends BaseCommand<typeof DlqReplay> {
  static override summary = 'Send dead letters back to their group.'
  static override description = [
    'They come back to the head of their original queue, in their original order, before messages that ' +
      'wait there; only to this group, with the ids and properties that they have. With --to-topic they ' +
      'are appended to that topic instead, for all its groups. A message that fails again comes back to ' +
      'its entry, with one replay more.',
    'Each dead letter is one step of its own: a replay that was interrupted or killed can be run again ' +
      'and goes on, and of two replays at once each message goes to one. Exit 0 when all that matched ' +
      'were replayed or skipped, 6 when some failed or --limit left some over, 130 when it was ' +
      'interrupted.',
  ].join('\n\n')
  static override strict = false
  static override args = {
    msgId: string({ description: 'Ids of the messages.', ignoreStdin: true }),
  }
  static override flags = {
    group: groupFlag(),
    all: boolean({ description: 'All dead letters of the group that the filters select.' }),
    ...dlqFilterFlags,
    'to-topic': stringFlag({ description: 'Append to this topic instead.', helpValue: 'TOPIC' }),
    limit: integer({ description: 'Replay at most so many.', min: 1, helpValue: 'N' }),
    rate: rateFlag({ description: 'Replay at most so many a time: 100/s.' }),
    'max-replays': integer({ description: 'Skip what was replayed so often.', min: 1, helpValue: 'N' }),
    ...destructiveFlags,
  }
  static override examples = [
    '<%= config.bin %> dlq replay -g mailer --all --dry-run',
    '<%= config.bin %> dlq replay -g mailer --error-match timeout --rate 100/s --max-replays 3 --yes',
    '<%= config.bin %> dlq replay -g mailer 7F0000010A2B18B4AAC201D0D0A40000 --yes',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { all, yes, limit, 'dry-run': dryRun = false, 'to-topic': toTopic } = this.flags
    const group = this.groupOrDefault(this.flags.group)
    const msgIds = await this.#msgIds()
    const conditions = dlqFilter(this.flags)
    const filter = { ...conditions, ...(msgIds.length === 0 ? undefined : { msgIds }) }
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    if (!all && Object.keys(filter).length === 0) return await this.#showWhatIsThere(broker, group)
    const matching = (await broker.deadLetters.count(group, filter)).get(group) ?? 0
    if (matching > 0 && !dryRun) {
      const many = formatPlural(Math.min(matching, limit ?? matching), 'dead letter')
      const where = toTopic === undefined ? '' : ` to topic ${toTopic}`
      const agreed = await this.confirmDestructive({
        action: `replay ${many} of group ${group}${where}`,
        yes,
      })
      if (!agreed) return this.say('nothing was changed')
    }
    await this.#replay(broker, group, filter, matching)
  }

  async #replay(broker: Broker, group: string, filter: DeadLetterFilter, matching: number): Promise<void> {
    const {
      limit,
      rate,
      'max-replays': maxReplays,
      'dry-run': dryRun = false,
      'to-topic': toTopic,
    } = this.flags
    using stop = listenForStop()
    const readerLeft = new AbortController()
    const report = new ReplayReport(this.out, this.flags.json, () => readerLeft.abort())
    using progress = this.#progress(
      () => `${formatCount(report.done)} of ${formatCount(matching)} dead letters`,
    )
    const summary = await replayDeadLetters(broker, {
      group,
      filter,
      all: true,
      dryRun,
      signal: AbortSignal.any([stop.signal, readerLeft.signal]),
      onResult: (result) => report.result(result),
      ...(toTopic === undefined ? undefined : { toTopic }),
      ...(limit === undefined ? undefined : { limit }),
      ...(rate === undefined ? undefined : { ratePerSecond: rate }),
      ...(maxReplays === undefined ? undefined : { maxReplays }),
    })
    await report.finish(summary, dryRun)
    progress.clear()
    this.say(summaryText(summary, dryRun))
    if (summary.replayed > 0 && !dryRun) this.say(`rmq groups describe ${group} shows how they get on`)
    const missing = shortfall(summary)
    if (missing === undefined) return
    const signal = stop.received()
    if (signal !== undefined) process.exitCode = stopExitCode(signal)
    else this.failAfterOutput(missing)
  }

  async #msgIds(): Promise<readonly string[]> {
    const { argv } = await this.parse(DlqReplay)
    return argv.map(String)
  }

  /** Nothing says which ones are meant, and everything is never a default. */
  async #showWhatIsThere(broker: Broker, group: string): Promise<void> {
    const deadLetters = (await broker.deadLetters.count(group, {})).get(group) ?? 0
    if (!this.flags.json) {
      const rows: DeadLetterRow[] = []
      for await (const letter of deadLettersOf(broker, group, {}, SHOWN_MAX)) rows.push(deadLetterRow(letter))
      await this.out.table(deadLetterColumns, rows)
    }
    throw new RmqError('INVALID_ARGUMENT', 'nothing says which dead letters to replay', {
      why: `group ${group} has ${formatPlural(deadLetters, 'dead letter')}`,
      hint: 'name message ids, give a filter such as --topic, or say --all; --dry-run shows what would happen',
      details: { group, deadLetters },
    })
  }

  #progress(text: () => string): Progress {
    const wanted = !this.flags.quiet && !this.flags['no-progress'] && !this.out.terminal
    return new Progress({ stream: process.stderr, env: process.env, wanted, text })
  }
}
