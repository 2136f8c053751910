import { string } from '@oclif/core/args'
import { boolean, string as stringFlag } from '@oclif/core/flags'
import type { Broker } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { requireTopicConfig } from '../../ui/lookup.ts'
import { formatPlural } from '../../ui/quantities.ts'

/** What goes with a topic. */
interface TopicHoldings {
  readonly queues: number
  readonly messages: number
  /** Delayed ones, which are in no queue yet. */
  readonly scheduled: number
  /** Groups that consume it or have consumed it. */
  readonly groups: readonly string[]
}

export default class TopicsDelete extends BaseCommand<typeof TopicsDelete> {
  static override summary = 'Delete a topic with its messages.'
  static override description =
    'Its messages, those of it that are delayed, and the offsets of every group on it are gone for good; dead ' +
    'letters stay. A topic of that name that is made afterwards begins anew. Refused while members consume it.'
  static override hiddenAliases = ['topic:delete']
  static override args = {
    name: string({ description: 'Name of the topic.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    confirm: stringFlag({ description: 'Its name once more: do not ask.', helpValue: 'NAME' }),
    'dry-run': boolean({
      description: 'Show what would happen, change nothing.',
      exclusive: ['confirm'],
    }),
  }
  static override examples = [
    '<%= config.bin %> topics delete orders --dry-run',
    '<%= config.bin %> topics delete orders --confirm orders',
  ]

  async run(): Promise<void> {
    const { confirm, 'dry-run': dryRun } = this.flags
    const broker = await this.openBroker({ create: false })
    const { topic } = await requireTopicConfig(broker, this.args.name)
    const holdings = await holdingsOf(broker, topic)
    if (dryRun) return this.#print(topic, holdings)
    const agreed = await this.confirmDestructive({
      action: `delete topic ${topic} with ${describe(holdings)}`,
      name: topic,
      ...(confirm !== undefined && { confirm }),
    })
    if (!agreed) return this.say('nothing was changed')
    await broker.admin.deleteTopic(topic)
    await this.#print(topic, holdings)
  }

  async #print(topic: string, holdings: TopicHoldings): Promise<void> {
    const { json, 'dry-run': dryRun } = this.flags
    if (json) await this.out.json({ topic, ...holdings, dryRun })
    else {
      await this.out.facts([
        ['topic', topic],
        ['queues', holdings.queues],
        ['messages', holdings.messages],
        ['scheduled', holdings.scheduled],
        ['groups', holdings.groups.join(',') || null],
      ])
    }
    this.say(dryRun ? 'dry run: nothing was changed' : `deleted topic ${topic} with ${describe(holdings)}`)
  }
}

async function holdingsOf(broker: Broker, topic: string): Promise<TopicHoldings> {
  const stats = await broker.queueStats(topic)
  const groups: string[] = []
  for (const { group } of await broker.listGroups()) {
    if ((await broker.groupTopics(group)).includes(topic)) groups.push(group)
  }
  const messages = stats.reduce((sum, { minOffset, maxOffset }) => sum + maxOffset - minOffset, 0)
  const scheduled = stats.reduce((sum, queue) => sum + queue.scheduled, 0)
  return { queues: stats.length, messages, scheduled, groups }
}

function describe({ queues, messages, scheduled, groups }: TopicHoldings): string {
  const consumers = groups.length === 0 ? '' : ` and the offsets of ${formatPlural(groups.length, 'group')}`
  const delayed = scheduled === 0 ? '' : `, ${formatPlural(scheduled, 'delayed message')}`
  return `${formatPlural(messages, 'message')} in ${formatPlural(queues, 'queue')}${delayed}${consumers}`
}
