import type { FailedMessage, Fence } from '../broker.ts'
import type { MessageExt } from '../model/message.ts'
import { EMBEDDED_BROKER_NAME } from '../model/message-queue.ts'
import { retryTopicOf } from '../model/names.ts'
import {
  ORIGIN_MESSAGE_ID,
  ORIGIN_PLACE,
  RECONSUME_TIME,
  RETRY_TOPIC,
  UNIQ_KEY,
} from '../model/properties.ts'
import type { CommittedOffsets } from './committed-offsets.ts'
import { type OriginPlace, originalOf } from './original.ts'
import type { FencePlace, Places } from './places.ts'
import type { Store } from './store.ts'
import type { Attempts } from './tables/attempts.ts'
import type { DeadLetters } from './tables/dead-letters.ts'
import type { DelayedMessages } from './tables/delayed-messages.ts'
import type { Messages } from './tables/messages.ts'
import type { Queues } from './tables/queues.ts'

export interface SendBackParts {
  readonly places: Places
  readonly queues: Queues
  readonly messages: Messages
  readonly attempts: Attempts
  readonly deadLetters: DeadLetters
  readonly delayed: DelayedMessages
  readonly offsets: CommittedOffsets
}

/**
 * Failed messages on their way to the retry topic of their group (RocketMQ `consumerSendMsgBack`): delayed first, and
 * done with in their queue, in one transaction. A message keeps its id, and remembers its first place on every hop.
 */
export class SendBack {
  readonly #store: Store
  readonly #parts: SendBackParts

  constructor(store: Store, parts: SendBackParts) {
    this.#store = store
    this.#parts = parts
  }

  sendBack(fence: Fence, failures: readonly FailedMessage[]): Promise<boolean> {
    const { places, queues, offsets } = this.#parts
    return this.#store.write(
      () => {
        const place = places.held(fence)
        if (place === undefined) return false
        const now = Math.floor(this.#store.host.runtime.now())
        const mq = { topic: retryTopicOf(fence.group), brokerName: EMBEDDED_BROKER_NAME, queueId: 0 }
        const retryQueue = queues.resolve(mq).id
        for (const failure of failures) this.#delay(place, retryQueue, failure, now)
        const live = failures.flatMap(({ message }) => (message.redelivery ? [] : [message.queueOffset]))
        offsets.pass(place, live, now)
        return true
      },
      { wake: true },
    )
  }

  #delay(place: FencePlace, retryQueue: number, failure: FailedMessage, now: number): void {
    const { attempts, deadLetters, delayed, messages } = this.#parts
    const { message, attempts: times, delayMs } = failure
    const { groupId, queueRow } = place
    const { queueOffset: offset, redelivery } = message
    const known = attempts.at(groupId, queueRow, offset, redelivery?.replay ?? 0)
    const original = originalOf(messages, queueRow, message)
    const origin: OriginPlace = {
      queueRow: original.queueRow,
      queueId: original.queueId,
      offset: original.offset,
      firstFailedAt: original.firstFailedAt ?? known?.firstFailedAt ?? now,
    }
    delayed.insert({
      dueAt: now + Math.max(0, Math.ceil(delayMs)),
      queueRow: retryQueue,
      born: original.born,
      key: original.key,
      tags: original.tags,
      keys: original.keys,
      properties: retryProperties(original.properties, original.topic, origin, message, times),
      body: original.body,
    })
    attempts.drop(groupId, queueRow, offset, redelivery?.replay ?? 0)
    if (redelivery !== undefined) deadLetters.settle(redelivery.deadLetterId, groupId, queueRow, now)
  }
}

function retryProperties(
  properties: string | null,
  topic: string,
  origin: OriginPlace,
  { msgId }: MessageExt,
  reconsumeTimes: number,
): string {
  return JSON.stringify({
    ...(properties === null ? undefined : (JSON.parse(properties) as object)),
    [UNIQ_KEY]: msgId,
    [RETRY_TOPIC]: topic,
    [ORIGIN_MESSAGE_ID]: msgId,
    [ORIGIN_PLACE]: JSON.stringify(origin),
    [RECONSUME_TIME]: String(reconsumeTimes),
  })
}
