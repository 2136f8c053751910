import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { type GroupConfig, type GroupSpec, RmqError } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import {
  groupChangeOf,
  groupConfigRecord,
  groupSettingFlags,
  settingChanges,
  settingFacts,
} from '../../ui/group-settings.ts'

export default class GroupsCreate extends BaseCommand<typeof GroupsCreate> {
  static override summary = 'Create a consumer group.'
  static override description =
    'The first consumer of a group makes it, too. A group that was made before has its settings when that starts.'
  static override hiddenAliases = ['group:create']
  static override args = {
    name: string({ description: 'Name of the group.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    ...groupSettingFlags,
    'if-not-exists': boolean({ description: 'Succeed when there is a group of that name.' }),
  }
  static override examples = [
    '<%= config.bin %> groups create mailer --max-reconsume 5 --suspend 2s',
    '<%= config.bin %> groups create audit --trace --if-not-exists',
  ]

  async run(): Promise<void> {
    const spec: GroupSpec = { group: this.args.name, ...groupChangeOf(this.flags) }
    const broker = await this.openBroker()
    const { config, created } = await broker.admin.createGroup(spec).then(
      (config) => ({ config, created: true }),
      async (error: unknown) => ({
        config: this.#existing(error, await broker.groupConfig(spec.group)),
        created: false,
      }),
    )
    if (created) this.say(`created group ${config.group} (rmq groups describe ${config.group} shows it)`)
    else this.#sayWhatDiffers(spec, config)
    if (this.flags.json) return this.out.json({ ...groupConfigRecord(config), created })
    await this.out.facts([['group', config.group], ...settingFacts(config)])
  }

  #existing(error: unknown, config: GroupConfig | undefined): GroupConfig {
    const exists = error instanceof RmqError && error.code === 'GROUP_EXISTS'
    if (!exists || !this.flags['if-not-exists'] || !config) throw error
    return config
  }

  #sayWhatDiffers({ group, ...wanted }: GroupSpec, config: GroupConfig): void {
    this.say(`group ${group} exists, nothing was changed`)
    for (const { setting, old, new: said } of settingChanges(config, wanted)) {
      this.caution(`group ${group} has ${setting} ${old}, not ${said}`)
    }
  }
}
