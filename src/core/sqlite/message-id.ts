/**
 * Ids of embedded messages: where the message lies, in 32 upper-case hex digits, as long as RocketMQ's:
 * 8 of the store, 8 of the queue's row, 16 of the offset. Unique by construction, computed only when asked for.
 */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
const MESSAGE_ID = /^[0-9A-F]{32}$/

function hex32(n: number): string {
  return `${HEX[n >>> 24]}${HEX[(n >>> 16) & 0xff]}${HEX[(n >>> 8) & 0xff]}${HEX[n & 0xff]}`
}

/** What all ids of one queue begin with. */
export function messageIdPrefix(storeId: number, queueRow: number): string {
  return hex32(storeId) + hex32(queueRow)
}

export function formatMessageId(prefix: string, offset: number): string {
  return prefix + hex32(Math.floor(offset / 0x1_0000_0000)) + hex32(offset >>> 0)
}

/** No queue has this row: an id that begins with it is of a delayed message, and ends with its `delayed_message.id`. */
export const DELAYED_ROW = 0

/** Id of a message that had no place when it was sent; it keeps it when it has one. */
export function delayedMessageId(storeId: number, id: number): string {
  return formatMessageId(messageIdPrefix(storeId, DELAYED_ROW), id)
}

export interface MessagePlace {
  readonly storeId: number
  readonly queueRow: number
  readonly offset: number
}

/** The place that an id names, `undefined` when it is none of ours. Lower case is read too. */
export function parseMessageId(msgId: string): MessagePlace | undefined {
  const text = msgId.toUpperCase()
  if (!MESSAGE_ID.test(text)) return undefined
  const offset = Number.parseInt(text.slice(16), 16)
  if (!Number.isSafeInteger(offset)) return undefined
  return {
    storeId: Number.parseInt(text.slice(0, 8), 16),
    queueRow: Number.parseInt(text.slice(8, 16), 16),
    offset,
  }
}
