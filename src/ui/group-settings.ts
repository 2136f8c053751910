import { boolean, integer } from '@oclif/core/flags'
import { formatDuration, type GroupChange, type GroupConfig } from '../core/index.ts'
import type { Cell } from './cell.ts'
import { durationFlag } from './flags.ts'
import { isoTime } from './records.ts'
import type { Column } from './table.ts'

/** What can be set of a group; the same for a new one and for one that exists. */
export const groupSettingFlags = {
  'max-reconsume': integer({
    description: 'Further tries after the first; -1 (new groups): no end when orderly, else 16.',
    min: -1,
    max: 2 ** 31 - 1,
    helpValue: 'N',
  }),
  suspend: durationFlag({ description: 'Pause before a failed head is tried again (new groups: 1s).' }),
  'consume-enable': boolean({
    description: 'Its members get messages (new groups).',
    exclusive: ['no-consume-enable'],
  }),
  'no-consume-enable': boolean({ description: 'They get none until it is enabled.' }),
  trace: boolean({ description: 'Its deliveries are journaled.', exclusive: ['no-trace'] }),
  'no-trace': boolean({ description: 'They are not (new groups).' }),
}

export interface GroupSettingValues {
  readonly 'max-reconsume'?: number | undefined
  readonly suspend?: number | undefined
  readonly 'consume-enable': boolean
  readonly 'no-consume-enable': boolean
  readonly trace: boolean
  readonly 'no-trace': boolean
}

/** Only what was said. */
export function groupChangeOf(flags: GroupSettingValues): GroupChange {
  const { 'max-reconsume': maxReconsumeTimes, suspend: suspendMs } = flags
  return {
    ...(maxReconsumeTimes === undefined ? undefined : { maxReconsumeTimes }),
    ...(suspendMs === undefined ? undefined : { suspendMs }),
    ...(flags['consume-enable'] || flags['no-consume-enable']
      ? { consumeEnable: flags['consume-enable'] }
      : undefined),
    ...(flags.trace || flags['no-trace'] ? { trace: flags.trace } : undefined),
  }
}

/** A setting that a change moves, by its name in JSON. */
export interface SettingChange {
  readonly setting: string
  readonly old: number | boolean
  readonly new: number | boolean
}

/** Settings that would be other ones than before. */
export function settingChanges(before: GroupConfig, change: GroupChange): readonly SettingChange[] {
  const [old, changed] = [settings(before), settings({ ...before, ...change })]
  return (Object.keys(old) as (keyof typeof old)[])
    .map((setting) => ({ setting, old: old[setting], new: changed[setting] }))
    .filter((one) => one.old !== one.new)
}

export const settingChangeColumns: readonly Column<SettingChange>[] = [
  { header: 'SETTING', value: ({ setting }) => NAMES[setting as keyof typeof NAMES] },
  { header: 'OLD', value: (one) => settingCell(one.setting, one.old) },
  { header: 'NEW', value: (one) => settingCell(one.setting, one.new), style: () => 'bold' },
]

/** All of them, for `facts`. */
export function settingFacts(config: GroupConfig): readonly (readonly [string, Cell])[] {
  return Object.entries(settings(config)).map(([setting, value]) => [
    NAMES[setting as keyof typeof NAMES],
    settingCell(setting, value),
  ])
}

export function groupConfigRecord(config: GroupConfig) {
  return { group: config.group, ...settings(config), createdAt: isoTime(config.createdAt) }
}

/** As `groups describe` calls them. */
const NAMES = {
  maxReconsume: 'max reconsume',
  suspendMs: 'suspend',
  consumeEnable: 'consume enabled',
  trace: 'trace',
} as const

function settings({ maxReconsumeTimes, suspendMs, consumeEnable, trace }: GroupConfig) {
  return { maxReconsume: maxReconsumeTimes, suspendMs, consumeEnable, trace }
}

/** -1 is called as `groups describe` calls it while nobody says what it means: the mode of the members does. */
function settingCell(setting: string, value: number | boolean): Cell {
  if (setting === 'maxReconsume' && value === -1) return 'default'
  return setting === 'suspendMs' ? formatDuration(Number(value)) : value
}
