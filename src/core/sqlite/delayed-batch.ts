import { dueAt, isDelayed } from '../model/delay.ts'
import { RmqError } from '../model/errors.ts'
import type { Message, SendReceipt } from '../model/message.ts'
import { EMBEDDED_BROKER_NAME, type MessageQueue } from '../model/message-queue.ts'
import { UNIQ_KEY } from '../model/properties.ts'
import { type MessageBatch, messageOf } from './message-batch.ts'
import { delayedMessageId } from './message-id.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'

/** Messages of a batch that come later. Ids and times are set by the write, one for each. */
export interface DelayedBatch {
  readonly storeId: number
  readonly messages: readonly Message[]
  readonly msgIds: string[]
  readonly dueAt: number[]
}

/**
 * `undefined` when all of them come at once, also because their time has passed. INVALID_ARGUMENT when only some ask
 * for a delay: messages of one group get contiguous offsets.
 */
export function delayedBatch(
  messages: readonly Message[],
  now: number,
  storeId: number,
): DelayedBatch | undefined {
  // A loop: a bulk send has thousands of messages, and mostly none is delayed.
  let delayed = 0
  for (const message of messages) if (isDelayed(message)) delayed++
  if (delayed === 0) return undefined
  if (delayed < messages.length) {
    throw new RmqError('INVALID_ARGUMENT', 'messages of one group are all delayed, or none is', {
      why: `${delayed} of ${messages.length} are`,
      hint: 'send them in two groups',
    })
  }
  // Each is looked at, since it checks them too.
  const later = messages.filter((message) => dueAt(message, now) !== undefined)
  return later.length === 0 ? undefined : { storeId, messages, msgIds: [], dueAt: [] }
}

export interface PlacedDelayedBatch extends DelayedBatch {
  readonly queueRow: number
  readonly batch: MessageBatch
  readonly born: number
  readonly stored: number
}

/** Inside a write job, which may run twice: then the second one counts. */
export function insertDelayed(table: DelayedMessages, placed: PlacedDelayedBatch): void {
  const { storeId, messages, msgIds, queueRow, batch, born, stored } = placed
  const firstId = table.nextId()
  for (const [i, message] of messages.entries()) {
    const id = firstId + i
    const msgId = delayedMessageId(storeId, id)
    const { properties, ...columns } = messageOf(batch, i)
    const own = properties === null ? {} : (JSON.parse(properties) as object)
    placed.dueAt[i] = dueAt(message, stored) ?? stored
    msgIds[i] = msgId
    const row = {
      ...columns,
      queueRow,
      born,
      dueAt: placed.dueAt[i],
      properties: JSON.stringify({ ...own, [UNIQ_KEY]: msgId }),
    }
    table.insert(row, id)
  }
}

export function delayedReceipt({ topic, queueId }: MessageQueue, delayed: DelayedBatch): SendReceipt {
  return {
    topic,
    brokerName: EMBEDDED_BROKER_NAME,
    queueId,
    queueOffset: null,
    count: delayed.msgIds.length,
    deliverAt: (i) => delayed.dueAt[i] as number,
    msgId: (i) => delayed.msgIds[i] as string,
  }
}
