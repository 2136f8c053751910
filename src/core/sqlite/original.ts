import type { MessageExt } from '../model/message.ts'
import { ORIGIN_PLACE, RETRY_PROPERTIES, RETRY_TOPIC, UNIQ_KEY } from '../model/properties.ts'
import type { Messages } from './tables/messages.ts'

/** Where a message of a retry topic was sent to, and since when it fails; JSON in its property ORIGIN_PLACE. */
export interface OriginPlace {
  /** `queue.id`. */
  readonly queueRow: number
  readonly queueId: number
  readonly offset: number
  readonly firstFailedAt: number
}

/** A message as it was sent, column by column, with its first place. */
export interface Original {
  readonly msgId: string
  readonly topic: string
  readonly queueRow: number
  readonly queueId: number
  readonly offset: number
  readonly key: string | null
  readonly tags: string | null
  /** JSON. */
  readonly keys: string | null
  /** JSON, without what a retry adds. */
  readonly properties: string | null
  readonly body: Buffer
  readonly born: number
  readonly stored: number
  /** Known of one that was sent back before. */
  readonly firstFailedAt: number | null
}

/**
 * The original of a message of the queue `queueRow`, as it is stored, system properties included; what the consumer
 * holds only where it is no longer stored.
 */
export function originalOf(messages: Messages, queueRow: number, message: MessageExt): Original {
  const { msgId, topic, queueId, queueOffset: offset, bornTimestamp: born, storeTimestamp: stored } = message
  const { key, tags } = message
  const raw = messages.at(queueRow, offset)
  const first = { msgId, topic, queueRow, queueId, offset, key, tags, born, stored, firstFailedAt: null }
  if (raw === undefined) {
    const { keys, properties, body } = message
    return {
      ...first,
      keys: keys.length === 0 ? null : JSON.stringify(keys),
      properties: Object.keys(properties).length === 0 ? null : JSON.stringify(properties),
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    }
  }
  const [, , , , , keys, properties, body] = raw
  const columns = { ...first, keys, properties, body }
  const all = properties === null ? {} : (JSON.parse(properties) as Record<string, string>)
  const place = all[ORIGIN_PLACE]
  if (place === undefined) return columns
  const origin = JSON.parse(place) as OriginPlace
  const own = Object.entries(all).filter(([name]) => !RETRY_PROPERTIES.has(name))
  return {
    ...columns,
    ...origin,
    topic: all[RETRY_TOPIC] ?? topic,
    properties: own.length === 0 ? null : JSON.stringify({ ...Object.fromEntries(own), [UNIQ_KEY]: msgId }),
  }
}
