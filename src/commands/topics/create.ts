import { string } from '@oclif/core/args'
import { boolean, integer, option } from '@oclif/core/flags'
import {
  HASH_RULES,
  QUEUES_PER_TOPIC_MAX,
  RmqError,
  type TopicConfig,
  type TopicSpec,
} from '../../core/index.ts'
import { BaseCommand } from '../../ui/base-command.ts'
import { topicColumns } from '../../ui/columns.ts'
import { sizeFlag } from '../../ui/flags.ts'
import { topicRecord } from '../../ui/records.ts'
import { retentionFlag } from '../../ui/topic-settings.ts'

export default class TopicsCreate extends BaseCommand<typeof TopicsCreate> {
  static override summary = 'Create a topic.'
  static override hiddenAliases = ['topic:create']
  static override args = {
    name: string({ description: 'Name of the topic.', required: true, ignoreStdin: true }),
  }
  static override flags = {
    queues: integer({
      description: 'Number of queues (default 8).',
      min: 1,
      max: QUEUES_PER_TOPIC_MAX,
      helpValue: 'N',
    }),
    hash: option({ options: HASH_RULES })({
      description: 'Which rule maps a key to a queue (default java).',
    }),
    retention: retentionFlag({
      description: 'How long messages are kept at least (default none: for ever).',
    }),
    'max-body': sizeFlag({ description: 'Largest body (default 4MiB).' }),
    'if-not-exists': boolean({ description: 'Succeed when there is a topic of that name.' }),
  }
  static override examples = [
    '<%= config.bin %> topics create orders',
    '<%= config.bin %> topics create orders --queues 16 --if-not-exists',
  ]

  async run(): Promise<void> {
    const broker = await this.openBroker()
    const { queues, hash, retention: retentionMs, 'max-body': maxBody } = this.flags
    const spec: TopicSpec = {
      topic: this.args.name,
      ...(queues === undefined ? undefined : { queues }),
      ...(hash === undefined ? undefined : { hash }),
      ...(retentionMs === undefined ? undefined : { retentionMs }),
      ...(maxBody === undefined ? undefined : { maxBody }),
    }
    const { config, created } = await broker.createTopic(spec).then(
      (config) => ({ config, created: true }),
      async (error: unknown) => ({
        config: this.#existing(error, await broker.topicConfig(spec.topic)),
        created: false,
      }),
    )
    if (created) this.say(`created topic ${config.topic} (rmq topics describe ${config.topic} shows it)`)
    else this.#sayWhatDiffers(spec, config)
    if (this.flags.json) return this.out.json({ ...topicRecord(config), created })
    await this.out.table(topicColumns, [config])
  }

  #existing(error: unknown, config: TopicConfig | undefined): TopicConfig {
    const exists = error instanceof RmqError && error.code === 'TOPIC_EXISTS'
    if (!exists || !this.flags['if-not-exists'] || !config) throw error
    return config
  }

  #sayWhatDiffers(spec: TopicSpec, config: TopicConfig): void {
    this.say(`topic ${config.topic} exists, nothing was changed`)
    const [asked, is] = [topicRecord({ ...config, ...spec }), topicRecord(config)]
    for (const field of ['queues', 'hash', 'retention', 'maxBody'] as const) {
      if (asked[field] === is[field]) continue
      this.caution(`topic ${config.topic} has ${field} ${is[field] ?? 'none'}, not ${asked[field] ?? 'none'}`)
    }
  }
}
