import { integer, option, string } from '@oclif/core/flags'
import { sizeFlag } from './flags.ts'

const positive = (description: string, fallback: number) =>
  integer({ description, default: fallback, min: 1, helpValue: 'N' })

/** Flags of every benchmark. */
export const benchFlags = {
  size: sizeFlag({ description: 'Size of each body.', default: 128 }),
  queues: positive('Queues of the topic.', 8),
  keys: positive('Distinct ordering keys.', 1000),
  durability: option({ options: ['full', 'normal'] as const })({
    description: 'full: a send is on the disk when it is acknowledged. normal: safe against crashes only.',
    default: 'full' as const,
  }),
  seed: integer({ description: 'Seed of keys and bodies.', default: 1, helpValue: 'N' }),
  assert: string({
    description: 'Exit 5 unless this holds, such as "ratio>=0.25". Repeatable.',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'EXPR',
  }),
}

export const messagesFlag = (fallback: number) => positive('Messages to measure with.', fallback)
export const producersFlag = () => positive('Producer processes.', 1)
export const consumersFlag = () => positive('Consumer processes.', 1)
export const batchFlag = () => positive('Messages of a batch.', 1000)
