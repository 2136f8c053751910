import { BaseCommand } from '../../ui/base-command.ts'
import { deadLetterRecord, deadLettersOf } from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags, dlqStates, noDeadLetters, stateFlag } from '../../ui/dlq-filters.ts'
import { explicitGroupFlag } from '../../ui/flags.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { formatPlural } from '../../ui/quantities.ts'

export default class DlqExport extends BaseCommand<typeof DlqExport> {
  static override summary = 'Write dead letters out as NDJSON, one a line.'
  static override description = [
    'Whole: the message as it was sent, where it came from, and how it died; a body that is no UTF-8 as ' +
      'bodyBase64. Dead and parked ones; --state exports others. In the order of their queues and offsets. ' +
      'Nothing is changed.',
    'rmq send --input ndjson takes the lines as they are: what only a broker gives is ignored. They are new ' +
      'messages then, for all groups of the topic; rmq dlq replay sends the original back to its own group.',
  ].join('\n\n')
  static override flags = {
    group: explicitGroupFlag({ required: true }),
    state: stateFlag,
    ...dlqFilterFlags,
  }
  static override examples = [
    '<%= config.bin %> dlq export -g mailer > mailer.ndjson',
    '<%= config.bin %> dlq export -g mailer --error-match timeout | <%= config.bin %> send orders-again --input ndjson',
    "<%= config.bin %> dlq export -g mailer | jq -r '[.originTopic, .key, .lastError] | @tsv'",
  ]

  async run(): Promise<void> {
    const { group, state } = this.flags
    const filter = { ...dlqFilter(this.flags), ...dlqStates(state) }
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    let exported = 0
    for await (const letter of deadLettersOf(broker, group, filter)) {
      await this.out.record(deadLetterRecord(letter))
      exported++
    }
    this.say(
      exported === 0
        ? noDeadLetters(filter, group)
        : `exported ${formatPlural(exported, 'dead letter')} of group ${group}`,
    )
  }
}
