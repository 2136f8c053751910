import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { formatDuration } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { instant } from '../../ui/cell.ts'
import {
  blockedColumns,
  groupQueueColumns,
  maxReconsumeText,
  memberColumns,
  pausedColumns,
} from '../../ui/group-columns.ts'
import { type GroupSummary, groupDetailRecord, modeOf, summarizeGroup } from '../../ui/group-summary.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { pausedQueues } from '../../ui/member-records.ts'
import { pause } from '../../ui/pause.ts'
import { listenForStop } from '../../ui/signals.ts'
import type { Column } from '../../ui/table.ts'

/** How often a watched group is looked at. */
const LOOK_EVERY_MS = 500

export default class GroupsDescribe extends BaseCommand<typeof GroupsDescribe> {
  static override summary = 'Show a consumer group: members, progress, what blocks it.'
  static override hiddenAliases = ['group:describe']
  static override args = {
    name: string({ description: 'Name of the group.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    all: boolean({ description: 'System topics too, such as the one of its retries.' }),
    watch: boolean({ char: 'w', description: 'Print it again whenever it changes, until stopped.' }),
  }
  static override examples = [
    '<%= config.bin %> groups describe mailer',
    '<%= config.bin %> groups describe mailer -w',
    "<%= config.bin %> groups describe mailer --json | jq '.queues[] | select(.blocked)'",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const look = async () => {
      const config = await requireGroup(broker, this.args.name)
      return summarizeGroup(broker, config, { all: this.flags.all })
    }
    if (this.flags.watch) return this.#watch(look)
    const summary = await look()
    if (this.flags.json) return this.out.json(groupDetailRecord(summary))
    await this.#print(summary)
  }

  async #watch(look: () => Promise<GroupSummary>): Promise<void> {
    using stop = listenForStop()
    let shown: string | undefined
    while (!stop.signal.aborted) {
      const summary = await look()
      const record = groupDetailRecord(summary)
      const text = JSON.stringify(record)
      if (text !== shown) {
        if (this.flags.json) await this.out.record(record)
        else {
          if (shown !== undefined) await this.out.gap()
          await this.#print(summary)
        }
      }
      shown = text
      await pause(LOOK_EVERY_MS, stop.signal)
    }
  }

  async #print(summary: GroupSummary): Promise<void> {
    const { config, topics, members, progress, retry, lag, state } = summary
    await this.out.facts([
      ['group', config.group],
      ['state', state],
      ['topics', topics.join(',') || null],
      ['lag', lag],
      ...(retry ? [['to be retried', `${retry.waiting} now, ${retry.scheduled} later`] as const] : []),
      ['max reconsume', maxReconsumeText(config.maxReconsumeTimes, modeOf(summary))],
      ['suspend', formatDuration(config.suspendMs)],
      ['consume enabled', config.consumeEnable],
      ['trace', config.trace],
      ['created', instant(config.createdAt)],
    ])
    await this.#block(memberColumns, members)
    await this.#block(groupQueueColumns, progress)
    await this.#block(pausedColumns, pausedQueues(members))
    await this.#block(
      blockedColumns,
      progress.filter((queue) => queue.blocked),
    )
  }

  async #block<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return
    await this.out.gap()
    await this.out.table(columns, rows)
  }
}
