import { string } from '@oclif/core/args'
import { type Broker, type GroupConfig, RmqError } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { destructiveFlags } from '../../ui/flags.ts'
import {
  groupChangeOf,
  groupConfigRecord,
  groupSettingFlags,
  type SettingChange,
  settingChangeColumns,
  settingChanges,
} from '../../ui/group-settings.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'
import { formatPlural } from '../../ui/quantities.ts'

export default class GroupsAlter extends BaseCommand<typeof GroupsAlter> {
  static override summary = "Change a consumer group's settings."
  static override description =
    'A member that was started without a flag of its own takes the settings when it starts. With ' +
    '--no-consume-enable running members end what they do, give their queues back and wait; with --consume-enable ' +
    'they go on.'
  static override hiddenAliases = ['group:alter']
  static override args = {
    name: string({ description: 'Name of the group.', required: true, ignoreStdin: true }),
  }
  static override flags = { ...groupSettingFlags, ...destructiveFlags }
  static override examples = [
    '<%= config.bin %> groups alter mailer --max-reconsume 5 --dry-run',
    '<%= config.bin %> groups alter mailer --no-consume-enable --yes',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { yes, 'dry-run': dryRun } = this.flags
    const change = groupChangeOf(this.flags)
    if (Object.keys(change).length === 0) throw nothingSaid(this.args.name)
    const broker = await this.openBroker({ create: false })
    const before = await requireGroup(broker, this.args.name)
    const changes = settingChanges(before, change)
    if (dryRun || changes.length === 0) return this.#print({ ...before, ...change }, changes)
    if (!(await this.confirmDestructive({ action: actionOf(before, changes), yes })))
      return this.say('nothing was changed')
    await this.#print(await broker.admin.alterGroup(before.group, change), changes)
    await this.#sayWhoKeepsThem(broker, before.group, changes)
  }

  async #print(config: GroupConfig, changes: readonly SettingChange[]): Promise<void> {
    const { json, 'dry-run': dryRun } = this.flags
    if (json) await this.out.json({ ...groupConfigRecord(config), changes, dryRun })
    else await this.out.table(settingChangeColumns, changes)
    if (changes.length === 0) this.say(`group ${config.group} is like that already: nothing was changed`)
    else if (dryRun) this.say('dry run: nothing was changed')
    else this.say(`rmq groups describe ${config.group} shows it`)
  }

  async #sayWhoKeepsThem(broker: Broker, group: string, changes: readonly SettingChange[]): Promise<void> {
    if (changes.every(({ setting }) => setting === 'consumeEnable')) return
    const living = (await broker.members(group)).filter(({ state }) => state === 'alive').length
    if (living > 0) this.say(`${formatPlural(living, 'running member')} will see it after a restart`)
  }
}

function actionOf({ group }: GroupConfig, changes: readonly SettingChange[]): string {
  const list = changes.map(({ setting, old, new: to }) => `${setting} from ${old} to ${to}`)
  return `change group ${group} (${list.join(', ')})`
}

function nothingSaid(group: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', 'nothing says what to change', {
    why: 'a group has the settings --max-reconsume, --suspend, --consume-enable and --trace',
    hint: `rmq groups describe ${group} shows what they are`,
  })
}
