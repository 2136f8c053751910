import type { Broker, DeadLetterFilter } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import {
  type DeadLetterRow,
  deadLetterColumns,
  deadLetterRecord,
  deadLetterRow,
  deadLettersOf,
} from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags, dlqStates, stateFlag } from '../../ui/dlq-filters.ts'
import { groupFlag } from '../../ui/flags.ts'
import { writeJsonList } from '../../ui/json-list.ts'
import { requireGroup } from '../../ui/lookup.ts'

export default class DlqList extends BaseCommand<typeof DlqList> {
  static override summary = 'List the dead letters of a group, or how many each group has.'
  static override description =
    'Dead and parked ones; --state shows the others. In the order of their queues and offsets.'
  static override flags = {
    group: groupFlag({ description: 'Consumer group (default $RMQ_GROUP, else one line for each group).' }),
    state: stateFlag,
    ...dlqFilterFlags,
  }
  static override examples = [
    '<%= config.bin %> dlq list',
    '<%= config.bin %> dlq list -g mailer --topic orders --since -1h',
    "<%= config.bin %> dlq list -g mailer --json | jq -r '.deadLetters[].lastError'",
  ]

  async run(): Promise<void> {
    const group = this.flags.group ?? (process.env.RMQ_GROUP || undefined)
    const filter = { ...dlqFilter(this.flags), ...dlqStates(this.flags.state) }
    const broker = await this.openBroker({ create: false })
    if (group === undefined) return await this.#listGroups(broker, filter)
    await requireGroup(broker, group)
    const letters = deadLettersOf(broker, group, filter)
    if (this.flags.json) {
      return await writeJsonList(this.out, 'deadLetters', letters, deadLetterRecord)
    }
    const rows: DeadLetterRow[] = []
    for await (const letter of letters) rows.push(deadLetterRow(letter))
    if (rows.length === 0) this.say(`group ${group} has no such dead letters`)
    await this.out.table(deadLetterColumns, rows)
    if (rows.length > 0) this.say(`rmq dlq replay -g ${group} --all --dry-run shows what a replay would do`)
  }

  async #listGroups(broker: Broker, filter: DeadLetterFilter): Promise<void> {
    const counts = await broker.deadLetters.count(undefined, filter)
    const groups = [...counts].map(([group, deadLetters]) => ({ group, deadLetters }))
    if (this.flags.json) return this.out.json({ groups })
    if (groups.length === 0) this.say('no group has dead letters')
    await this.out.table(
      [
        { header: 'GROUP', value: ({ group }) => group, style: () => 'bold' },
        { header: 'DEAD_LETTERS', value: ({ deadLetters }) => deadLetters },
      ],
      groups,
    )
  }
}
