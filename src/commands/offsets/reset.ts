import { boolean, integer } from '@oclif/core/flags'
import { assertGroupIdle, type OffsetReset, planReset } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { destructiveFlags, explicitGroupFlag, topicFlag } from '../../ui/flags.ts'
import { requireGroup, requireTopic } from '../../ui/lookup.ts'
import { offsetResetColumns, offsetResetRecord, offsetResetText, placeFlag } from '../../ui/offset-moves.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'

export default class OffsetsReset extends BaseCommand<typeof OffsetsReset> {
  static override summary = 'Move a group to another place in its queues.'
  static override description = [
    'Backwards, messages are consumed again; forwards, they are skipped. All queues move in one step, or none. ' +
      'Attempts of earlier rounds are forgotten. Dead letters from the new offset on come again in their ' +
      'queue; their entries stay and say so.',
    'Refused while members of the group live. With --force their locks are taken away: what they commit late is ' +
      'refused, and they go on at the new offset. The retry topic of a group is moved only when --topic names it.',
  ].join('\n\n')
  static override hiddenAliases = ['offset:reset']
  static override flags = {
    group: explicitGroupFlag({ required: true }),
    to: placeFlag({
      description: 'Where it goes on: earliest, latest, committed, 120, +10, -10 or @TIME.',
      required: true,
    }),
    topic: topicFlag(),
    queue: integer({ char: 'p', description: 'Only this queue.', min: 0, helpValue: 'ID' }),
    force: boolean({ description: 'Also while members live.' }),
    ...destructiveFlags,
  }
  static override examples = [
    '<%= config.bin %> offsets reset -g mailer --to earliest --dry-run',
    '<%= config.bin %> offsets reset -g mailer --topic orders --to @-15m --yes',
    '<%= config.bin %> offsets reset -g mailer --topic orders -p 3 --to=-10 --force --yes',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { group, to, topic, queue: queueId, force, yes, 'dry-run': dryRun } = this.flags
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    if (topic !== undefined) await requireTopic(broker, topic)
    const target = {
      group,
      to,
      ...(topic && { topic }),
      ...(queueId === undefined ? undefined : { queueId }),
    }
    const plan = await planReset(broker, target)
    if (!force && !dryRun) await assertGroupIdle(broker, group, 'reset')
    if (dryRun || plan.length === 0) return this.#print(plan)
    if (!(await this.confirmDestructive({ action: `reset ${offsetResetText(group, plan)}`, yes })))
      return this.say('nothing was changed')
    const wanted = plan.map((one) => ({ mq: one.mq, offset: one.to }))
    await this.#print(await broker.admin.resetOffsets(group, wanted, { force }))
  }

  async #print(resets: readonly OffsetReset[]): Promise<void> {
    const { group, 'dry-run': dryRun } = this.flags
    if (this.flags.json) return this.out.json({ reset: resets.map(offsetResetRecord), dryRun })
    await this.out.table(offsetResetColumns, resets)
    if (resets.length === 0)
      this.say(`group ${group} has no offsets; --topic names a topic that it shall start on`)
    else if (dryRun)
      this.say(`dry run: nothing was changed; it would reset ${offsetResetText(group, resets)}`)
    else this.say(`reset ${offsetResetText(group, resets)}; rmq offsets list -g ${group} shows where it is`)
  }
}
