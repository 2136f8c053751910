import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { BaseCommand } from '../../ui/base-command.ts'
import { topicColumns } from '../../ui/columns.ts'
import { matchesGlob } from '../../ui/glob.ts'
import { topicRecord } from '../../ui/records.ts'

export default class TopicsList extends BaseCommand<typeof TopicsList> {
  static override summary = 'List topics.'
  static override hiddenAliases = ['topic:list']
  static override args = {
    pattern: string({ description: 'Only topics of this name; * and ? are wild.', ignoreStdin: true }),
  }
  static override flags = {
    all: boolean({ description: 'System topics too.' }),
  }
  static override examples = [
    '<%= config.bin %> topics list',
    "<%= config.bin %> topics list 'order*' --json",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const topics = (await broker.listTopics({ all: this.flags.all })).filter((topic) =>
      matchesGlob(topic.topic, this.args.pattern ?? '*'),
    )
    if (this.flags.json) return this.out.json({ topics: topics.map(topicRecord) })
    if (topics.length === 0) this.say('no topics (rmq topics create NAME makes one)')
    await this.out.table(topicColumns, topics)
  }
}
