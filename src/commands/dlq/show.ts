import { string } from '@oclif/core/args'
import { RmqError } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { deadLetterFacts, deadLetterRecord, deadLettersOf } from '../../ui/dead-letters.ts'
import { dlqFilter, dlqFilterFlags, dlqStates, noDeadLetters, stateFlag } from '../../ui/dlq-filters.ts'
import { groupFlag } from '../../ui/flags.ts'
import { writeJsonList } from '../../ui/json-list.ts'
import { requireGroup } from '../../ui/lookup.ts'

export default class DlqShow extends BaseCommand<typeof DlqShow> {
  static override summary = 'Show dead letters whole: the message, where it came from, and why it died.'
  static override description =
    'With MSG_ID that one, in whatever state it is; without it all that the filters select.'
  static override args = {
    msgId: string({ description: 'Id of the message.', ignoreStdin: true }),
  }
  static override flags = {
    group: groupFlag(),
    state: stateFlag,
    ...dlqFilterFlags,
  }
  static override examples = [
    '<%= config.bin %> dlq show -g mailer 7F0000010A2B18B4AAC201D0D0A40000',
    '<%= config.bin %> dlq show -g mailer --error-match timeout',
    "<%= config.bin %> dlq show -g mailer --key order-17 --json | jq '.deadLetters[].attempts'",
  ]

  async run(): Promise<void> {
    const group = this.groupOrDefault(this.flags.group)
    const msgId = this.args.msgId?.toUpperCase()
    const state = this.flags.state ?? (msgId === undefined ? undefined : 'all')
    const filter = {
      ...dlqFilter(this.flags),
      ...dlqStates(state),
      ...(msgId === undefined ? undefined : { msgIds: [msgId] }),
    }
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    if (msgId !== undefined && (await broker.deadLetters.count(group, filter)).get(group) === 0) {
      throw new RmqError('MESSAGE_NOT_FOUND', `group ${group} has no dead letter ${msgId}`, {
        why: 'no entry of that id matches',
        hint: `rmq dlq list -g ${group} --state all`,
        details: { group, msgId },
      })
    }
    const letters = deadLettersOf(broker, group, filter)
    if (this.flags.json) {
      return await writeJsonList(this.out, 'deadLetters', letters, deadLetterRecord)
    }
    let shown = 0
    for await (const letter of letters) {
      if (shown++ > 0) await this.out.line('')
      await this.out.facts(deadLetterFacts(letter))
    }
    if (shown === 0) this.say(noDeadLetters(filter, group))
  }
}
