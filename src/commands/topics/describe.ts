import { string } from '@oclif/core/args'
import { BaseCommand } from '../../ui/base-command.ts'
import { instant } from '../../ui/cell.ts'
import { queueStatsColumns } from '../../ui/columns.ts'
import { requireTopicConfig } from '../../ui/lookup.ts'
import { topicRecord } from '../../ui/records.ts'
import { barrierDebtColumns, barrierDebts, barrierRecord, barrierText } from '../../ui/topic-barrier.ts'
import { topicSettingFacts } from '../../ui/topic-settings.ts'

export default class TopicsDescribe extends BaseCommand<typeof TopicsDescribe> {
  static override summary = 'Show a topic and the bounds of its queues.'
  static override description =
    'SCHEDULED are delayed messages that were sent to a queue and are not in it yet. Queues that a change of their ' +
    'number dropped are listed while they hold messages, or such messages are left. A barrier stands as long as an ' +
    'orderly group is not done with what was sent before the change; the last table says in which queues.'
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
    const config = await requireTopicConfig(broker, this.args.name)
    const [stats, barriers] = await Promise.all([
      broker.queueStats(config.topic),
      broker.admin.barriers(config.topic),
    ])
    const queues = stats.map((queue) => ({ ...queue, dropped: queue.mq.queueId >= config.queues }))
    if (this.flags.json) {
      const queueStats = queues.map(({ mq, minOffset, maxOffset, scheduled, dropped }) => ({
        queueId: mq.queueId,
        minOffset,
        maxOffset,
        scheduled,
        dropped,
      }))
      return this.out.json({ ...topicRecord(config), queueStats, barrier: barrierRecord(barriers) })
    }
    await this.out.facts([
      ['topic', config.topic],
      ['hash', config.hash],
      ...topicSettingFacts(config),
      ['created', instant(config.createdAt)],
      ['barrier', barrierText(barriers)],
    ])
    await this.out.gap()
    await this.out.table(
      [...queueStatsColumns, { header: 'STATE', value: ({ dropped }) => (dropped ? 'dropped' : 'live') }],
      queues,
    )
    const [oldest] = barriers
    if (!oldest) return
    await this.out.gap()
    await this.out.table(barrierDebtColumns, barrierDebts(oldest))
  }
}
