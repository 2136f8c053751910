import type { ProcessQueueEntry } from '../../../src/core/client/process-queue.ts'
import type { MessageExt } from '../../../src/core/model/message.ts'

/** A message of a queue, as a pull gives it; its body has 2 bytes. */
export const message = (queueOffset: number, more: Partial<MessageExt> = {}): MessageExt => ({
  msgId: `id-${queueOffset}`,
  topic: 'T',
  brokerName: 'b',
  queueId: 0,
  queueOffset,
  key: null,
  keys: [],
  tags: null,
  properties: {},
  body: Buffer.from('ab'),
  bornTimestamp: 0,
  storeTimestamp: 0,
  reconsumeTimes: 0,
  ...more,
})

export const replayed = (queueOffset: number, deadLetterId: number, more: Partial<MessageExt> = {}) =>
  message(queueOffset, { redelivery: { deadLetterId, replay: 1 }, ...more })

export const offsets = (entries: readonly ProcessQueueEntry[]) =>
  entries.map((entry) => entry.message.queueOffset)

export const same = ({ attempts }: ProcessQueueEntry) => attempts
export const oneMore = ({ attempts }: ProcessQueueEntry) => attempts + 1
