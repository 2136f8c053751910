import {
  type Broker,
  type MessageExt,
  type OffsetSpec,
  type QueueStats,
  waitForMessages,
} from '../core/index.ts'
import { offsetIn, type PeekFilter, readMessages, selectedQueues } from './peek-messages.ts'

/** After this time queues are listed again: there may be more of them. */
const LOOK_AGAIN_MS = 15_000

export interface FollowOptions extends PeekFilter {
  readonly from: OffsetSpec
}

/** How far one queue was followed. */
interface Followed {
  readonly next: number
  /** Where it ended at that time. */
  readonly end: number
}

/**
 * What is stored from `from` on, queue by queue, then what arrives in any queue, until `signal` is aborted. Within a
 * queue in the order of its offsets. A queue that appears later is followed from its first message.
 */
export async function* followMessages(
  broker: Broker,
  options: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<MessageExt> {
  const followed = new Map<number, Followed>()
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const queues = selectedQueues(await broker.queueStats(options.topic), options)
    let isMoved = false
    for (const stats of queues) {
      const { queueId } = stats.mq
      const { maxOffset } = stats
      const from = isFirst
        ? await offsetIn(broker, stats, options.from)
        : nextOffset(stats, followed.get(queueId))
      for await (const message of readMessages(broker, { stats, from, to: maxOffset }, options)) {
        if (signal.aborted) return
        yield message
      }
      isMoved ||= from < maxOffset
      // Past the end: nothing is shown until the queue gets there.
      followed.set(queueId, { next: Math.max(from, maxOffset), end: maxOffset })
    }
    if (isMoved) continue
    const places = queues.map(({ mq, maxOffset }) => ({ mq, offset: maxOffset }))
    await waitForMessages(broker, places, LOOK_AGAIN_MS, signal)
  }
}

function nextOffset({ minOffset, maxOffset }: QueueStats, before: Followed | undefined): number {
  // It is new, or it ends earlier than it did: the topic was made anew.
  return before === undefined || maxOffset < before.end ? minOffset : before.next
}
