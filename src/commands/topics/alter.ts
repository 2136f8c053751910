import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { planQueues, RmqError, type TopicConfig } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { destructiveFlags } from '../../ui/flags.ts'
import { requireTopicConfig } from '../../ui/lookup.ts'
import { refuseDryRunWithYes } from '../../ui/prompt.ts'
import { printQueuePlan } from '../../ui/queue-plan.ts'
import { topicRecord } from '../../ui/records.ts'
import {
  settingCell,
  type TopicSettingChange,
  topicChangeFlags,
  topicChangeOf,
  topicSettingChangeColumns,
  topicSettingChanges,
} from '../../ui/topic-settings.ts'

export default class TopicsAlter extends BaseCommand<typeof TopicsAlter> {
  static override summary = "Change a topic's number of queues or another setting."
  static override description =
    'Another number of queues sends most keys to other queues. So that each key stays in order, messages that are ' +
    'sent after the change are held back from an orderly group until it is done with all that was sent before; ' +
    'producers and consumers go on meanwhile. Queues that are dropped take no messages and stay readable until ' +
    'they are drained. --plan shows beforehand which keys move and what must drain.'
  static override hiddenAliases = ['topic:alter']
  static override args = {
    name: string({ description: 'Name of the topic.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    ...topicChangeFlags,
    plan: boolean({
      description: 'Show what another number of queues would do, change nothing.',
      dependsOn: ['queues'],
      exclusive: ['dry-run', 'yes'],
    }),
    ...destructiveFlags,
  }
  static override examples = [
    '<%= config.bin %> topics alter orders --queues 12 --plan',
    '<%= config.bin %> topics alter orders --queues 12 --yes',
    '<%= config.bin %> topics alter orders --retention 7d --perm r --dry-run',
  ]

  async run(): Promise<void> {
    refuseDryRunWithYes(this.flags)
    const { yes, plan, queues, 'dry-run': dryRun } = this.flags
    const change = topicChangeOf(this.flags)
    if (Object.keys(change).length === 0) throw nothingSaid(this.args.name)
    const broker = await this.openBroker({ create: false })
    const before = await requireTopicConfig(broker, this.args.name)
    if (plan && queues !== undefined) {
      await printQueuePlan(this.out, await planQueues(broker, before.topic, queues), this.flags.json)
      return this.say('plan: nothing was changed')
    }
    const changes = topicSettingChanges(before, change)
    if (dryRun || changes.length === 0) return this.#print({ ...before, ...change }, changes)
    if (!(await this.confirmDestructive({ action: actionOf(before, changes), yes })))
      return this.say('nothing was changed')
    await this.#print(await broker.admin.alterTopic(before.topic, change), changes)
  }

  async #print(config: TopicConfig, changes: readonly TopicSettingChange[]): Promise<void> {
    const { json, 'dry-run': dryRun } = this.flags
    if (json) await this.out.json({ ...topicRecord(config), changes, dryRun })
    else await this.out.table(topicSettingChangeColumns, changes)
    if (changes.length === 0) this.say(`topic ${config.topic} is like that already: nothing was changed`)
    else if (dryRun) this.say('dry run: nothing was changed')
    else this.say(hintAfter(config, changes))
  }
}

function hintAfter({ topic }: TopicConfig, changes: readonly TopicSettingChange[]): string {
  const see = `rmq topics describe ${topic}`
  if (!changes.some(({ setting }) => setting === 'queues')) return `${see} shows it`
  return `orderly groups get newer messages when they are done with the older ones; ${see} shows who is not yet`
}

function actionOf({ topic }: TopicConfig, changes: readonly TopicSettingChange[]): string {
  const list = changes.map(
    ({ setting, old, new: to }) =>
      `${setting} from ${settingCell(setting, old)} to ${settingCell(setting, to)}`,
  )
  return `change ${list.join(' and ')} of topic ${topic}`
}

function nothingSaid(topic: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', 'nothing says what to change', {
    why: 'a topic has the settings --queues, --retention, --perm and --max-body',
    hint: `rmq topics describe ${topic} shows what they are`,
  })
}
