import { custom, integer } from '@oclif/core/flags'
import {
  formatDuration,
  formatSize,
  parseDuration,
  QUEUES_PER_TOPIC_MAX,
  RmqError,
  type TopicChange,
  type TopicConfig,
  type TopicPerm,
} from '../core/index.ts'
import type { Cell } from './cell.ts'
import { sizeFlag } from './flags.ts'
import type { Column } from './table.ts'

/** `7d`, `none`: milliseconds. */
export const retentionFlag = custom<number | null>({
  parse: async (text) => (text === 'none' ? null : parseDuration(text)),
  helpValue: 'DURATION|none',
})

const PERMS: Readonly<Record<string, TopicPerm>> = { '2': 2, '4': 4, '6': 6, w: 2, r: 4, rw: 6 }

/** `2|4|6` as RocketMQ has them, or `w|r|rw`. */
const permFlag = custom<TopicPerm>({
  parse: async (text) => {
    const perm = PERMS[text]
    if (perm !== undefined) return perm
    throw new RmqError('INVALID_ARGUMENT', `--perm ${text} is not allowed`, {
      why: `it is one of: ${Object.keys(PERMS).join(', ')}`,
      hint: '6 or rw: read and write; 4 or r: read only; 2 or w: write only',
    })
  },
  helpValue: '2|4|6|w|r|rw',
})

/** What can be changed of a topic that exists. */
export const topicChangeFlags = {
  queues: integer({
    description: 'Number of queues that take messages.',
    min: 1,
    max: QUEUES_PER_TOPIC_MAX,
    helpValue: 'N',
  }),
  retention: retentionFlag({
    description: 'How long messages are kept at least; older ones go when every group is done with them.',
  }),
  perm: permFlag({ description: 'Whether it can be read (4), written (2) or both (6).' }),
  'max-body': sizeFlag({ description: 'Largest body.' }),
}

export interface TopicChangeValues {
  readonly queues?: number | undefined
  readonly retention?: number | null | undefined
  readonly perm?: TopicPerm | undefined
  readonly 'max-body'?: number | undefined
}

/** Only what was said. */
export function topicChangeOf(flags: TopicChangeValues): TopicChange {
  const { queues, retention: retentionMs, perm, 'max-body': maxBody } = flags
  return {
    ...(queues === undefined ? undefined : { queues }),
    ...(retentionMs === undefined ? undefined : { retentionMs }),
    ...(perm === undefined ? undefined : { perm }),
    ...(maxBody === undefined ? undefined : { maxBody }),
  }
}

/** A setting that a change moves, by its name in JSON, with its values as they are there. */
export interface TopicSettingChange {
  readonly setting: keyof ReturnType<typeof settings>
  readonly old: number | string | null
  readonly new: number | string | null
}

/** Settings that would be other ones than before. */
export function topicSettingChanges(before: TopicConfig, change: TopicChange): readonly TopicSettingChange[] {
  const [old, changed] = [settings(before), settings({ ...before, ...change })]
  return (Object.keys(old) as TopicSettingChange['setting'][])
    .map((setting) => ({ setting, old: old[setting], new: changed[setting] }))
    .filter((one) => one.old !== one.new)
}

export const topicSettingChangeColumns: readonly Column<TopicSettingChange>[] = [
  { header: 'SETTING', value: ({ setting }) => NAMES[setting] },
  { header: 'OLD', value: (one) => settingCell(one.setting, one.old) },
  { header: 'NEW', value: (one) => settingCell(one.setting, one.new), style: () => 'bold' },
]

/** All of them, for `facts`. */
export function topicSettingFacts(config: TopicConfig): readonly (readonly [string, Cell])[] {
  const values = settings(config)
  return (Object.keys(values) as TopicSettingChange['setting'][]).map((setting) => [
    NAMES[setting],
    settingCell(setting, values[setting]),
  ])
}

const NAMES = { queues: 'queues', retention: 'retention', maxBody: 'max body', perm: 'perm' } as const

/** What a permission means for those who use the topic. */
const PERM_TEXTS: Readonly<Record<TopicPerm, string>> = {
  2: '2 (write only: consumers get no queues)',
  4: '4 (read only: sends are refused)',
  6: '6 (read and write)',
}

function settings({ queues, retentionMs, maxBody, perm }: TopicConfig) {
  return { queues, retention: retentionMs === null ? null : formatDuration(retentionMs), maxBody, perm }
}

export function settingCell(setting: TopicSettingChange['setting'], value: number | string | null): Cell {
  if (setting === 'retention') return value ?? 'none'
  if (setting === 'maxBody') return formatSize(Number(value))
  return setting === 'perm' ? PERM_TEXTS[value as TopicPerm] : value
}
