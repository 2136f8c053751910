import { type GroupProgress, isSystemTopic } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { progressColumns } from '../../ui/columns.ts'
import { groupFlag, topicFlag } from '../../ui/flags.ts'
import { offsetRecord } from '../../ui/group-summary.ts'
import { requireGroup, requireTopic } from '../../ui/lookup.ts'

export default class OffsetsList extends BaseCommand<typeof OffsetsList> {
  static override summary = 'Show how far a group is in each queue.'
  static override hiddenAliases = ['offset:list']
  static override flags = {
    group: groupFlag(),
    topic: topicFlag(),
  }
  static override examples = [
    '<%= config.bin %> offsets list -g mailer',
    "<%= config.bin %> offsets list -g mailer --topic orders --json | jq '[.offsets[].lag] | add'",
  ]

  async run(): Promise<void> {
    const group = this.groupOrDefault(this.flags.group)
    const broker = await this.openBroker({ create: false })
    await requireGroup(broker, group)
    if (this.flags.topic) await requireTopic(broker, this.flags.topic)
    const progress = await broker.progress(group, this.flags.topic)
    const queues = this.flags.topic ? progress : progress.filter(isWorthARow)
    if (this.flags.json) return this.out.json({ offsets: queues.map(offsetRecord) })
    if (queues.length === 0) this.say(`group ${group} has no offsets`)
    await this.out.table(progressColumns, queues)
  }
}

/** The retry topic is there from the first start of a group on; what was never sent back says nothing. */
function isWorthARow({ mq, maxOffset }: GroupProgress): boolean {
  return maxOffset > 0 || !isSystemTopic(mq.topic)
}
