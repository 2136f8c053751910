import type { PullResult } from '../broker.ts'
import { RmqError } from '../model/errors.ts'
import type { QueueStatus } from '../model/group.ts'
import { LONG_POLL_MS, PULL_BATCH_MAX, PULL_RETRY_MS } from '../model/limits.ts'
import type { MessageExt } from '../model/message.ts'
import { sleep } from '../model/runtime.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { OwnedQueue } from './owned-queue.ts'

/** Fills the cache of one queue from `offset` on until the queue is dropped (RocketMQ `PullMessageService`). */
export async function pullLoop(queue: OwnedQueue, services: ConsumeServices, offset: number): Promise<void> {
  const { broker, group } = services
  const end = services.endOf(queue.mq)
  let next = offset
  let atEnd = false
  while (!queue.isDropped) {
    if (next >= end) {
      services.progressed()
      await aborted(queue.stopping)
      return
    }
    queue.flowControl = isFull(queue, services)
    if (queue.flowControl) {
      await queue.roomy.wait(queue.stopping)
      continue
    }
    const startedAt = broker.runtime.monotonic()
    try {
      const result = await broker.pull({
        group,
        mq: queue.mq,
        offset: next,
        maxMessages: Math.min(PULL_BATCH_MAX, end - next),
        subscription: services.subscriptionOf(queue.mq.topic),
        ordered: services.ordered,
        // The first look at the end answers at once, so that it is known that this is the end.
        waitMs: atEnd ? LONG_POLL_MS : 0,
        signal: queue.stopping,
      })
      if (queue.isDropped) return
      const { length } = result.messages
      if (length > 0) services.stats.pulled(queue.mq.topic, length, broker.runtime.monotonic() - startedAt)
      next = await take(result, queue, services, next)
      atEnd = result.status === 'NO_NEW_MSG'
      if (atEnd) services.progressed()
    } catch (error) {
      if (!isTransient(error)) throw error
      services.emit({
        kind: 'notice',
        text: `pull of ${queue.mq.topic} queue ${queue.mq.queueId}: ${error.message}`,
      })
      await sleep(broker.runtime, PULL_RETRY_MS, queue.stopping)
    }
  }
}

/** Puts a pull's result to use; answers the offset to go on at. */
async function take(
  result: PullResult,
  queue: OwnedQueue,
  services: ConsumeServices,
  asked: number,
): Promise<number> {
  const end = services.endOf(queue.mq)
  // A filter may let a pull look beyond the end that it was to stop at: what lies there is not ours to pass.
  const pulledTo = Math.min(result.nextOffset, end)
  switch (result.status) {
    case 'FOUND':
      queue.processQueue.putMessages(beforeEnd(result.messages, end), pulledTo)
      // All of them were done with before: nobody else will say so.
      if (queue.processQueue.msgCount === 0) services.offsets.update(queue.position, pulledTo)
      queue.arrived.raise()
      break
    case 'NO_NEW_MSG':
    case 'NO_MATCHED_MSG':
      // Nothing of ours up to here: filtered messages are passed over, they are no lag.
      queue.processQueue.putMessages([], pulledTo)
      if (queue.processQueue.msgCount === 0) services.offsets.update(queue.position, pulledTo)
      break
    case 'OFFSET_ILLEGAL':
      await drained(queue)
      if (queue.isDropped) break
      services.emit({ kind: 'offset-moved', mq: queue.mq, from: asked, to: result.nextOffset })
      queue.processQueue.clearTo(result.nextOffset)
      services.offsets.update(queue.position, result.nextOffset)
      break
  }
  return result.nextOffset
}

function beforeEnd(messages: readonly MessageExt[], end: number): readonly MessageExt[] {
  const last = messages.at(-1)
  return last && last.queueOffset >= end ? messages.filter(({ queueOffset }) => queueOffset < end) : messages
}

/** Why the cache takes no more, if so (RocketMQ `pullMessage`). */
function isFull({ processQueue, mq }: OwnedQueue, services: ConsumeServices): QueueStatus['flowControl'] {
  const { spanMax } = services
  const { messages, bytes } = services.thresholdsOf(mq.topic)
  if (processQueue.msgCount >= messages) return 'messages'
  if (processQueue.msgSize >= bytes) return 'bytes'
  return processQueue.span > spanMax ? 'span' : null
}

/** Resolves when nothing of the queue is cached or running. */
async function drained(queue: OwnedQueue): Promise<void> {
  while (!queue.isDropped && queue.processQueue.msgCount > 0) await queue.roomy.wait(queue.stopping)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Worth another try. A damaged, moved or full store, or a bug, is not. */
export function isTransient(error: unknown): error is RmqError {
  return error instanceof RmqError && (error.code === 'STORE_BUSY' || error.code === 'TIMED_OUT')
}
