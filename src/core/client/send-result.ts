import type { SendReceipt } from '../model/message.ts'
import type { PlacedMessages } from './place-messages.ts'

/** RocketMQ's `SendResult`: the message is stored and durable. */
export interface SendResult {
  readonly sendStatus: 'SEND_OK'
  readonly msgId: string
  readonly topic: string
  readonly brokerName: string
  readonly queueId: number
  /** `null` for a delayed message: it gets its offset when it is due. */
  readonly queueOffset: number | null
  /** When a delayed message is due, milliseconds since the epoch. Absent: it is in its queue. */
  readonly deliverAt?: number
}

/** What a batch gives back; results in the order of its messages, made when asked for. */
export interface BatchResult {
  readonly count: number
  result(i: number): SendResult
}

export function batchResult(
  receipts: readonly SendReceipt[],
  { groupIndex, placeInGroup }: Pick<PlacedMessages, 'groupIndex' | 'placeInGroup'>,
): BatchResult {
  const count = groupIndex.length
  return {
    count,
    result: (i) => {
      const group = groupIndex[i]
      const place = placeInGroup[i]
      const receipt = group === undefined ? undefined : receipts[group]
      if (!receipt || place === undefined) throw new RangeError(`no result ${i} in a batch of ${count}`)
      return sendResult(receipt, place)
    },
  }
}

function sendResult(receipt: SendReceipt, place: number): SendResult {
  const { topic, brokerName, queueId, queueOffset } = receipt
  return {
    sendStatus: 'SEND_OK',
    msgId: receipt.msgId(place),
    topic,
    brokerName,
    queueId,
    queueOffset: queueOffset === null ? null : queueOffset + place,
    ...(receipt.deliverAt && { deliverAt: receipt.deliverAt(place) }),
  }
}
