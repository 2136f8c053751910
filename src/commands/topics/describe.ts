import { string } from '@oclif/core/args'
import { formatDuration, formatSize, RmqError } from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { instant } from '../../ui/cell.ts'
import { queueStatsColumns } from '../../ui/columns.ts'
import { topicRecord } from '../../ui/records.ts'

export default class TopicsDescribe extends BaseCommand<typeof TopicsDescribe> {
  static override summary = 'Show a topic and the bounds of its queues.'
  static override hiddenAliases = ['topic:describe']
  static override args = {
    name: string({ description: 'Name of the topic.', required: true, ignoreStdin: true }),
  }
  static override examples = [
    '<%= config.bin %> topics describe orders',
    "<%= config.bin %> topics describe orders --json | jq '.queueStats[].maxOffset'",
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker({ create: false })
    const queues = await broker.queueStats(this.args.name)
    const config = await broker.topicConfig(this.args.name)
    if (!config) throw new RmqError('TOPIC_NOT_FOUND', `topic ${this.args.name} was deleted a moment ago`)
    if (this.flags.json) {
      const queueStats = queues.map(({ mq, minOffset, maxOffset }) => ({
        queueId: mq.queueId,
        minOffset,
        maxOffset,
      }))
      return this.out.json({ ...topicRecord(config), queueStats, barrier: null })
    }
    await this.out.facts([
      ['topic', config.topic],
      ['queues', config.queues],
      ['hash', config.hash],
      ['retention', config.retentionMs === null ? 'none' : formatDuration(config.retentionMs)],
      ['max body', formatSize(config.maxBody)],
      ['perm', config.perm],
      ['created', instant(config.createdAt)],
    ])
    await this.out.gap()
    await this.out.table(queueStatsColumns, queues)
  }
}
