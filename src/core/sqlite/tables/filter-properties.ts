import type { FilterProperties } from '../../model/sql92/compile.ts'

/**
 * What an SQL92 filter sees of a stored message: all of its properties, as on RocketMQ's brokers. `TAGS`, `KEYS`
 * (separated by blanks) and the ordering key `__SHARDINGKEY` have columns of their own.
 */
export function filterProperties(
  key: string | null,
  tags: string | null,
  keys: string | null,
  properties: string | null,
): FilterProperties {
  const all: Record<string, string> = properties === null ? {} : JSON.parse(properties)
  if (tags !== null) all.TAGS = tags
  if (key !== null) all.__SHARDINGKEY = key
  const lookupKeys = keys === null ? key : (JSON.parse(keys) as string[]).join(' ')
  if (lookupKeys) all.KEYS = lookupKeys
  return all
}
