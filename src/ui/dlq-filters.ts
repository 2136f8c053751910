import { option, string } from '@oclif/core/flags'
import type { DeadLetterFilter, DeadLetterState } from '../core/index.ts'
import { keyFlag, timeFlag, topicFlag } from './flags.ts'

/** Which dead letters are meant: the same for every command of them. */
export const dlqFilterFlags = {
  topic: topicFlag({ description: 'Only those that came from this topic.' }),
  key: keyFlag({ description: 'Only this ordering key, exactly.' }),
  'not-key': keyFlag({ description: 'All but this ordering key.', exclusive: ['key'] }),
  tag: string({ description: "Only these tags: 'A || B'.", helpValue: 'EXPR' }),
  since: timeFlag({ description: 'Dead-lettered at this time or later.' }),
  until: timeFlag({ description: 'Dead-lettered before this time.' }),
  'error-match': string({
    description: 'Only errors that this regular expression finds.',
    helpValue: 'REGEX',
  }),
}

const STATES = ['dead', 'parked', 'replayed', 'all'] as const

/** For commands that look: which states they show. */
export const stateFlag = option({ options: STATES })({
  description: 'Only this state (default dead and parked).',
})

export interface DlqFilterValues {
  readonly topic?: string | undefined
  readonly key?: string | undefined
  readonly 'not-key'?: string | undefined
  readonly tag?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly 'error-match'?: string | undefined
}

/** What the flags say, in the broker's words; empty when they say nothing. */
export function dlqFilter(flags: DlqFilterValues): DeadLetterFilter {
  const filter = {
    topic: flags.topic,
    key: flags.key,
    notKey: flags['not-key'],
    tags: flags.tag,
    since: flags.since,
    until: flags.until,
    errorMatch: flags['error-match'],
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** Without a filter there are none at all. `group` is absent where all of them were looked at. */
export function noDeadLetters(filter: DeadLetterFilter, group?: string): string {
  const what = Object.keys(filter).length > 0 ? 'such dead letters' : 'dead letters'
  return group === undefined ? `no group has ${what}` : `group ${group} has no ${what}`
}

/** The states behind the word of `--state`. */
export function dlqStates(state: (typeof STATES)[number] | undefined): {
  readonly states?: readonly DeadLetterState[]
} {
  if (state === undefined) return {}
  return { states: state === 'all' ? ['dead', 'parked', 'replayed'] : [state] }
}
