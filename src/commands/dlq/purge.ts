import { boolean, string as stringFlag } from '@oclif/core/flags'
import { type Broker, type DeadLetterFilter, purgeDeadLetters } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { type DeadLetterRow, deadLetterColumns, deadLetterRow, deadLettersOf } from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags, dlqStates, stateFlag } from '../../ui/dlq-filters.ts'
import { explicitGroupFlag } from '../../ui/flags.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { Progress } from '../../ui/progress.ts'
import { formatCount, formatPlural } from '../../ui/quantities.ts'
import { listenForStop, stopExitCode } from '../../ui/signals.ts'

/** How many a dry run shows. */
const SHOWN_MAX = 20

export default class DlqPurge extends BaseCommand<typeof DlqPurge> {
  static override summary = 'Delete dead letters for good.'
  static override description = [
    'Those that the filters select, without filters all that are dead or parked; --state selects others, replayed ' +
      'ones as far as they are done. What waits to be delivered once more is never purged, nor what died after the ' +
      'command was given. A parked key that has no dead letter left opens again: its next messages are consumed.',
    'It cannot be undone: rmq dlq export keeps them. A purge that was interrupted or killed can be run again and ' +
      'goes on.',
  ].join('\n\n')
  static override flags = {
    group: explicitGroupFlag({ required: true }),
    state: stateFlag,
    ...dlqFilterFlags,
    confirm: stringFlag({ description: 'The name of the group once more: do not ask.', helpValue: 'GROUP' }),
    'dry-run': boolean({
      description: 'Show what would happen, change nothing.',
      exclusive: ['confirm'],
    }),
  }
  static override examples = [
    '<%= config.bin %> dlq purge -g mailer --dry-run',
    '<%= config.bin %> dlq purge -g mailer --until -30d --confirm mailer',
    "<%= config.bin %> dlq purge -g mailer --error-match 'no such customer' --confirm mailer",
  ]

  async run(): Promise<void> {
    const { group, state, until, confirm, 'dry-run': dryRun } = this.flags
    // What dies while a person thinks about the question is none of what was asked for.
    const now = Date.now() + 1
    const conditions = { ...dlqFilter(this.flags), until: Math.min(until ?? now, now) }
    const filter: DeadLetterFilter = { ...conditions, ...dlqStates(state) }
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    const matching = (await broker.deadLetters.count(group, filter)).get(group) ?? 0
    if (dryRun) return await this.#show(broker, filter, matching)
    if (matching > 0) {
      const agreed = await this.confirmDestructive({
        action: `purge ${formatPlural(matching, 'dead letter')} of group ${group}`,
        name: group,
        ...(confirm !== undefined && { confirm }),
      })
      if (!agreed) return this.say('nothing was changed')
    }
    await this.#purge(broker, filter, matching)
  }

  async #purge(broker: Broker, filter: DeadLetterFilter, matching: number): Promise<void> {
    const { group, json } = this.flags
    using stop = listenForStop()
    let done = 0
    using progress = this.#progress(() => `${formatCount(done)} of ${formatCount(matching)} dead letters`)
    const { purged, left, remaining, interrupted } = await purgeDeadLetters(broker, {
      group,
      filter,
      signal: stop.signal,
      onProgress: (count) => {
        done = count
      },
    })
    progress.clear()
    if (json) await this.out.json({ group, purged, left, remaining, dryRun: false })
    else {
      await this.out.facts([
        ['group', group],
        ['purged', purged],
        ['left', left],
        ['remaining', remaining],
      ])
    }
    const kept = left === 0 ? '' : `, ${formatCount(left)} that match are still there`
    this.say(`purged ${formatPlural(purged, 'dead letter')} of group ${group}${kept}`)
    if (remaining > 0) this.say(`rmq dlq list -g ${group} shows the ${formatCount(remaining)} that remain`)
    if (!interrupted) return
    const signal = stop.received()
    if (signal !== undefined) process.exitCode = stopExitCode(signal)
    this.say('interrupted: run it again to go on')
  }

  /** A dry run shows the first of them; `rmq dlq list` shows all. */
  async #show(broker: Broker, filter: DeadLetterFilter, matching: number): Promise<void> {
    const { group, json } = this.flags
    if (json) {
      const remaining = ((await broker.deadLetters.count(group, {})).get(group) ?? 0) - matching
      return await this.out.json({ group, purged: matching, left: 0, remaining, dryRun: true })
    }
    const rows: DeadLetterRow[] = []
    for await (const letter of deadLettersOf(broker, group, filter, SHOWN_MAX))
      rows.push(deadLetterRow(letter))
    await this.out.table(deadLetterColumns, rows)
    const shown = matching > rows.length ? `; the first ${rows.length} are shown` : ''
    this.say(`dry run: nothing was changed; it would purge ${formatPlural(matching, 'dead letter')}${shown}`)
    if (matching > 0) this.say(`rmq dlq export -g ${group} with the same filters keeps them`)
  }

  #progress(text: () => string): Progress {
    const wanted = !this.flags.quiet && !this.flags['no-progress'] && !this.out.terminal
    return new Progress({ stream: process.stderr, env: process.env, wanted, text })
  }
}
