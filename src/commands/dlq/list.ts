import { option } from '@oclif/core/flags'
import type { Broker, DeadLetterFilter } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import {
  countDeadLetters,
  DEAD_LETTER_TRAITS,
  type DeadLetterTrait,
  deadLetterCountColumns,
  deadLetterCountRecord,
} from '../../ui/dead-letter-counts.ts'
import {
  type DeadLetterRow,
  deadLetterColumns,
  deadLetterRecord,
  deadLetterRow,
  deadLettersOf,
} from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags, dlqStates, noDeadLetters, stateFlag } from '../../ui/dlq-filters.ts'
import { groupFlag } from '../../ui/flags.ts'
import { writeJsonList } from '../../ui/json-list.ts'
import { requireGroup } from '../../ui/lookup.ts'

export default class DlqList extends BaseCommand<typeof DlqList> {
  static override summary = 'List the dead letters of a group, or how many each group has.'
  static override description = [
    'Dead and parked ones; --state shows the others. In the order of their queues and offsets. A parked one ' +
      'followed a dead one of its key, and waits for it to be replayed.',
    'With --by: how many have one topic, error or key, the most first, each with the first of them as an example.',
  ].join('\n\n')
  static override flags = {
    group: groupFlag({ description: 'Consumer group (default $RMQ_GROUP, else one line for each group).' }),
    by: option({ options: DEAD_LETTER_TRAITS })({ description: 'Count them by what they have in common.' }),
    state: stateFlag,
    ...dlqFilterFlags,
  }
  static override examples = [
    '<%= config.bin %> dlq list',
    '<%= config.bin %> dlq list -g mailer --topic orders --since -1h',
    '<%= config.bin %> dlq list -g mailer --by error',
    "<%= config.bin %> dlq list -g mailer --json | jq -r '.deadLetters[].lastError'",
  ]

  async run(): Promise<void> {
    const { by, state } = this.flags
    const group = this.flags.group ?? (process.env.RMQ_GROUP || undefined)
    const filter = { ...dlqFilter(this.flags), ...dlqStates(state) }
    const broker = await this.openBroker({ create: false })
    if (group !== undefined) await requireGroup(broker, group)
    if (by !== undefined) return await this.#listCounts(broker, group, filter, by)
    if (group === undefined) return await this.#listGroups(broker, filter)
    const letters = deadLettersOf(broker, group, filter)
    if (this.flags.json) {
      return await writeJsonList(this.out, 'deadLetters', letters, deadLetterRecord)
    }
    const rows: DeadLetterRow[] = []
    for await (const letter of letters) rows.push(deadLetterRow(letter))
    if (rows.length === 0) this.say(noDeadLetters(filter, group))
    await this.out.table(deadLetterColumns, rows)
    if (rows.some(({ state }) => state !== 'replayed'))
      this.say(`rmq dlq replay -g ${group} --all --dry-run shows what a replay would do`)
  }

  async #listCounts(
    broker: Broker,
    group: string | undefined,
    filter: DeadLetterFilter,
    by: DeadLetterTrait,
  ): Promise<void> {
    const groups = group === undefined ? (await broker.deadLetters.count(undefined, filter)).keys() : [group]
    const counts = await countDeadLetters(broker, [...groups], filter, by)
    if (this.flags.json) {
      return await this.out.json({ deadLetters: counts.map((count) => deadLetterCountRecord(count, by)) })
    }
    if (counts.length === 0) this.say(noDeadLetters(filter, group))
    await this.out.table(deadLetterCountColumns(by), counts)
    if (counts.length > 0) this.say('rmq dlq show -g GROUP ID shows an example whole')
  }

  async #listGroups(broker: Broker, filter: DeadLetterFilter): Promise<void> {
    const counts = await broker.deadLetters.count(undefined, filter)
    const groups = [...counts].map(([group, deadLetters]) => ({ group, deadLetters }))
    if (this.flags.json) return this.out.json({ groups })
    if (groups.length === 0) this.say(noDeadLetters(filter))
    await this.out.table(
      [
        { header: 'GROUP', value: ({ group }) => group, style: () => 'bold' },
        { header: 'DEAD_LETTERS', value: ({ deadLetters }) => deadLetters },
      ],
      groups,
    )
  }
}
