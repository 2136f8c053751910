import { setMaxListeners } from 'node:events'
import type { Broker, PullRequest } from '../broker.ts'
import { sleep } from '../model/runtime.ts'

/** Where messages are waited for: a queue, and the offset from which on they count. */
export type WaitPlace = Pick<PullRequest, 'mq' | 'offset' | 'group' | 'ordered'>

/**
 * Resolves when a queue has a message, or an answer that is no message but must be looked at; else after `waitMs`, or
 * with the signal. Messages are not fetched here: of several queues that have some, the caller chooses.
 */
export async function waitForMessages(
  broker: Broker,
  places: readonly WaitPlace[],
  waitMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (places.length === 0) return sleep(broker.runtime, waitMs, signal)
  const over = new AbortController()
  // One for each queue: their number is no leak.
  setMaxListeners(0, over.signal)
  const end = () => over.abort()
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  const held = places.map((place) => broker.pull({ ...place, maxMessages: 1, waitMs, signal: over.signal }))
  try {
    await Promise.race(held)
  } finally {
    end()
    signal?.removeEventListener('abort', end)
    await Promise.allSettled(held)
  }
}
