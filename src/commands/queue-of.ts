import { string } from '@oclif/core/args'
import { option } from '@oclif/core/flags'
import { HASH_RULES, queueOf, RmqError } from '../core/index.ts'
import { refuseDamagedKey } from '../ui/argument-text.ts'
import { BaseCommand } from '../ui/base-command.ts'

export default class QueueOf extends BaseCommand<typeof QueueOf> {
  static override summary = 'Show which queue a key goes to.'
  static override args = {
    topic: string({ description: 'The topic.', required: true, ignoreStdin: true }),
    keys: string({ description: 'Ordering keys.', required: true, multiple: true, ignoreStdin: true }),
  }
  static override flags = {
    as: option({ options: HASH_RULES })({ description: "Hash rule (default: the topic's)." }),
  }
  static override examples = [
    '<%= config.bin %> queue-of orders order-17',
    '<%= config.bin %> queue-of orders order-17 order-18 --json',
  ]

  async run(): Promise<void> {
    for (const key of this.args.keys) refuseDamagedKey(key, 'KEY')
    const broker = await this.openBroker({ create: false })
    const queues = await broker.publishQueues(this.args.topic)
    const rule = this.flags.as ?? (await broker.topicConfig(this.args.topic))?.hash ?? 'java'
    const rows = this.args.keys.map((key) => {
      const { hash, queueId: index } = queueOf(rule, key, queues.length)
      const mq = queues[index]
      if (!mq) throw new RmqError('QUEUE_NOT_FOUND', `topic ${this.args.topic} has no queue ${index}`)
      return { key, queueId: mq.queueId, hash }
    })
    if (this.flags.json) return this.out.json({ queues: rows })
    await this.out.table(
      [
        { header: 'KEY', value: (row) => row.key, style: () => 'bold' },
        { header: 'QUEUE', value: (row) => row.queueId },
        { header: 'HASH', value: (row) => row.hash },
      ],
      rows,
    )
  }
}
