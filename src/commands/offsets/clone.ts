import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { assertGroupIdle, type OffsetReset, planClone } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { destructiveFlags, topicFlag } from '../../ui/flags.ts'
import { requireGroup, requireTopic } from '../../ui/lookup.ts'
import { offsetResetColumns, offsetResetRecord, offsetResetText } from '../../ui/offset-moves.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'

export default class OffsetsClone extends BaseCommand<typeof OffsetsClone> {
  static override summary = 'Give a group the committed offsets of another one.'
  static override description =
    'The second group is made when it does not exist. Refused while members of it live, as offsets reset is; the ' +
    'first one may be at work: its offsets are taken as they are at that moment.'
  static override hiddenAliases = ['offset:clone']
  static override args = {
    from: string({ description: 'Group whose offsets are copied.', required: true, ignoreStdin: true }),
    to: string({ description: 'Group that gets them.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    topic: topicFlag(),
    force: boolean({ description: 'Also while members of the second group live.' }),
    ...destructiveFlags,
  }
  static override examples = [
    '<%= config.bin %> offsets clone mailer mailer-v2',
    '<%= config.bin %> offsets clone mailer mailer-v2 --topic orders --dry-run',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { topic, force, yes, 'dry-run': dryRun } = this.flags
    const { from: fromGroup, to: toGroup } = this.args
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, fromGroup)
    if (topic !== undefined) await requireTopic(broker, topic)
    const plan = await planClone(broker, { fromGroup, toGroup, ...(topic && { topic }) })
    if (!force && !dryRun) await assertGroupIdle(broker, toGroup, 'reset')
    if (dryRun || plan.length === 0) return this.#print(plan)
    // Where the other group has no offsets there is nothing to lose.
    const isDestructive = plan.some((one) => one.from !== null)
    const action = `overwrite ${offsetResetText(toGroup, plan)} with those of group ${fromGroup}`
    if (isDestructive && !(await this.confirmDestructive({ action, yes })))
      return this.say('nothing was changed')
    if ((await broker.groupConfig(toGroup)) === undefined) {
      await broker.admin.createGroup({ group: toGroup })
      this.say(`created group ${toGroup}`)
    }
    const wanted = plan.map((one) => ({ mq: one.mq, offset: one.to }))
    await this.#print(await broker.admin.resetOffsets(toGroup, wanted, { force }))
  }

  async #print(resets: readonly OffsetReset[]): Promise<void> {
    const { from, to } = this.args
    const { 'dry-run': dryRun } = this.flags
    if (this.flags.json) return this.out.json({ reset: resets.map(offsetResetRecord), dryRun })
    await this.out.table(offsetResetColumns, resets)
    if (resets.length === 0) this.say(`group ${from} has no offsets: nothing was changed`)
    else if (dryRun) this.say('dry run: nothing was changed')
    else this.say(`set ${offsetResetText(to, resets)}; rmq offsets list -g ${to} shows where it is`)
  }
}
