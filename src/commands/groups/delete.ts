import { string } from '@oclif/core/args'
import { boolean, string as stringFlag } from '@oclif/core/flags'
import { assertGroupIdle, type Broker, type GroupConfig } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { requireGroup } from '../../ui/lookup.ts'
import { formatPlural } from '../../ui/quantities.ts'

/** What goes with a group. */
interface GroupHoldings {
  readonly topics: readonly string[]
  readonly offsets: number
  readonly deadLetters: number
}

export default class GroupsDelete extends BaseCommand<typeof GroupsDelete> {
  static override summary = 'Delete a consumer group with its offsets and dead letters.'
  static override description =
    'Messages of its topics stay; those that wait to be tried again, and its dead letters, are gone for good ' +
    '(rmq dlq export keeps them). A consumer that joins a group of that name afterwards starts anew. Refused while ' +
    'members live.'
  static override hiddenAliases = ['group:delete']
  static override args = {
    name: string({ description: 'Name of the group.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    confirm: stringFlag({ description: 'Its name once more: do not ask.', helpValue: 'NAME' }),
    'dry-run': boolean({
      description: 'Show what would happen, change nothing.',
      exclusive: ['confirm'],
    }),
  }
  static override examples = [
    '<%= config.bin %> groups delete mailer --dry-run',
    '<%= config.bin %> groups delete mailer --confirm mailer',
  ]

  async run(): Promise<void> {
    const { confirm, 'dry-run': dryRun } = this.flags
    const broker = await this.openBroker({ create: false })
    const { group } = await requireGroup(broker, this.args.name)
    const holdings = await holdingsOf(broker, group)
    if (dryRun) return this.#print(group, holdings)
    await assertGroupIdle(broker, group, 'delete')
    const action = `delete group ${group} with ${describe(holdings)}`
    const agreed = await this.confirmDestructive({
      action,
      name: group,
      ...(confirm !== undefined && { confirm }),
    })
    if (!agreed) return this.say('nothing was changed')
    await broker.admin.deleteGroup(group)
    await this.#print(group, holdings)
  }

  async #print(group: GroupConfig['group'], holdings: GroupHoldings): Promise<void> {
    const { json, 'dry-run': dryRun } = this.flags
    if (json) await this.out.json({ group, ...holdings, dryRun })
    else {
      const { topics, offsets, deadLetters } = holdings
      await this.out.facts([
        ['group', group],
        ['topics', topics.join(',') || null],
        ['offsets', offsets],
        ['dead letters', deadLetters],
      ])
    }
    this.say(dryRun ? 'dry run: nothing was changed' : `deleted group ${group} with ${describe(holdings)}`)
  }
}

async function holdingsOf(broker: Broker, group: string): Promise<GroupHoldings> {
  const [topics, progress, letters] = await Promise.all([
    broker.groupTopics(group),
    broker.progress(group),
    broker.deadLetters.count(group, { states: ['dead', 'parked', 'replayed'] }),
  ])
  const offsets = progress.filter(({ committedOffset }) => committedOffset !== null).length
  return { topics, offsets, deadLetters: letters.get(group) ?? 0 }
}

function describe({ offsets, deadLetters }: GroupHoldings): string {
  return `${formatPlural(offsets, 'offset')} and ${formatPlural(deadLetters, 'dead letter')}`
}
