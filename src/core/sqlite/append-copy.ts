import { UNIQ_KEY } from '../model/properties.ts'
import type { Messages } from './tables/messages.ts'
import type { Queues } from './tables/queues.ts'

/** A stored message, column by column, that shall lie in another queue as well. */
export interface CopySource {
  readonly msgId: string
  readonly key: string | null
  readonly tags: string | null
  /** JSON, as stored. */
  readonly keys: string | null
  /** JSON, as stored: user and system properties. */
  readonly properties: string | null
  readonly body: Buffer
  /** Milliseconds since the epoch; kept. */
  readonly born: number
}

/**
 * Appends a copy to the queue `queueRow` and answers its offset. The copy keeps the id of the original as
 * `UNIQ_KEY`, as RocketMQ's retries and dead letters do. Inside a write job.
 */
export function appendCopy(
  queues: Queues,
  messages: Messages,
  queueRow: number,
  source: CopySource,
  storedAt: number,
): number {
  const offset = queues.allocate(queueRow, 1)
  const properties = source.properties === null ? {} : (JSON.parse(source.properties) as object)
  messages.insert(queueRow, [
    offset,
    storedAt,
    storedAt - source.born,
    source.key,
    source.tags,
    source.keys,
    JSON.stringify({ ...properties, [UNIQ_KEY]: source.msgId }),
    source.body,
  ])
  return offset
}
