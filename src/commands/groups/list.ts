import { boolean } from '@oclif/core/flags'
import { BaseCommand } from '../../ui/base-command.ts'
import { groupColumns } from '../../ui/group-columns.ts'
import { groupRecord, summarizeGroup } from '../../ui/group-summary.ts'

export default class GroupsList extends BaseCommand<typeof GroupsList> {
  static override summary = 'List consumer groups, their members and lag.'
  static override hiddenAliases = ['group:list']
  static override flags = {
    all: boolean({ description: 'System groups too.' }),
  }
  static override examples = [
    '<%= config.bin %> groups list',
    "<%= config.bin %> groups list --json | jq '.groups[] | select(.lag > 0)'",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const configs = await broker.listGroups({ all: this.flags.all })
    const groups = await Promise.all(configs.map((config) => summarizeGroup(broker, config)))
    if (this.flags.json) return this.out.json({ groups: groups.map(groupRecord) })
    if (groups.length === 0) this.say('no groups (the first rmq consume of a group makes it)')
    await this.out.table(groupColumns, groups)
  }
}
