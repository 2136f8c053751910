import { string } from '@oclif/core/args'
import { BaseCommand } from '../../ui/base-command.ts'
import { instant } from '../../ui/cell.ts'
import { progressColumns } from '../../ui/columns.ts'
import { blockedColumns, maxReconsumeText, memberColumns } from '../../ui/group-columns.ts'
import { type GroupSummary, groupDetailRecord, summarizeGroup } from '../../ui/group-summary.ts'
import { requireGroup } from '../../ui/lookup.ts'
import type { Column } from '../../ui/table.ts'

export default class GroupsDescribe extends BaseCommand<typeof GroupsDescribe> {
  static override summary = 'Show a consumer group: members, progress, what blocks it.'
  static override hiddenAliases = ['group:describe']
  static override args = {
    name: string({ description: 'Name of the group.', required: true, ignoreStdin: true }),
  }
  static override examples = [
    '<%= config.bin %> groups describe mailer',
    "<%= config.bin %> groups describe mailer --json | jq '.queues[] | select(.blocked)'",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const summary = await summarizeGroup(broker, await requireGroup(broker, this.args.name))
    if (this.flags.json) return this.out.json(groupDetailRecord(summary))
    await this.#print(summary)
  }

  async #print({ config, topics, members, progress, lag, state }: GroupSummary): Promise<void> {
    await this.out.facts([
      ['group', config.group],
      ['state', state],
      ['topics', topics.join(',') || null],
      ['lag', lag],
      ['max reconsume', maxReconsumeText(config.maxReconsumeTimes)],
      ['suspend', `${config.suspendMs}ms`],
      ['consume enabled', config.consumeEnable],
      ['created', instant(config.createdAt)],
    ])
    await this.#block(memberColumns, members)
    await this.#block(progressColumns, progress)
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
