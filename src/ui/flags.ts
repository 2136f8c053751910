import { boolean, custom } from '@oclif/core/flags'
import type { OffsetRange, OffsetSpec } from '../core/index.ts'
import { parseDuration, parseOffsetRange, parseOffsetSpec, parseSize, parseTime } from '../core/index.ts'
import { assertKey } from './argument-text.ts'

/** Kinds of flag values that several commands share. Each parser throws INVALID_ARGUMENT with an example. */

/** `250ms`, `10s`: milliseconds. */
export const durationFlag = custom<number>({
  parse: async (text) => parseDuration(text),
  helpValue: 'DURATION',
})

/** `4KiB`: bytes. */
export const sizeFlag = custom<number>({ parse: async (text) => parseSize(text), helpValue: 'SIZE' })

/** `-15m`, `2026-08-01`: milliseconds since the epoch. */
export const timeFlag = custom<number>({
  parse: async (text) => parseTime(text, Date.now()),
  helpValue: 'TIME',
})

/** `earliest`, `120`, `-10`, `@-15m`. */
export const offsetFlag = custom<OffsetSpec>({
  parse: async (text) => parseOffsetSpec(text, Date.now()),
  helpValue: 'OFFSET',
})

/** The same and `A:B`. */
export const offsetRangeFlag = custom<OffsetRange>({
  parse: async (text) => parseOffsetRange(text, Date.now()),
  helpValue: 'OFFSET',
})

/** An ordering or lookup key, as text that can be trusted: see `assertKey`. */
export const keyFlag = custom<string>({
  parse: async (key) => {
    assertKey(key, 'the key')
    return key
  },
  helpValue: 'KEY',
})

/** For commands that may fall back on RMQ_GROUP and the group `default`; see `BaseCommand.groupOrDefault`. */
export const groupFlag = custom<string>({
  char: 'g',
  description: 'Consumer group (default $RMQ_GROUP, else "default").',
  helpValue: 'GROUP',
})

/** For commands where the group must be said: it never comes from the environment. */
export const explicitGroupFlag = custom<string>({
  char: 'g',
  description: 'Consumer group.',
  helpValue: 'GROUP',
})

export const topicFlag = custom<string>({ description: 'Only this topic.', helpValue: 'TOPIC' })

/** Flags of every command that takes something away. */
export const destructiveFlags = {
  'dry-run': boolean({ description: 'Show what would happen, change nothing.' }),
  yes: boolean({ char: 'y', description: 'Do not ask.' }),
}
