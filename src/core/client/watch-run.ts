import type { MessageExt } from '../model/message.ts'
import { beginHooks } from './consume-hook.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { HandlerRun } from './handler-run.ts'
import { journalStart } from './journal.ts'
import type { ConsumeStatus } from './listener.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch } from './process-queue.ts'
import type { Outcome } from './settlement.ts'

/** One run of the handler as hooks, statistics and the journal see it. */
export interface WatchedRun {
  /** What the handler gets. */
  readonly messages: readonly MessageExt[]
  ended(run: HandlerRun): void
}

/** Begins to watch a run; it decides nothing. */
export function watchRun(
  queue: OwnedQueue,
  services: ConsumeServices,
  batch: Batch,
  attempts: number,
): WatchedRun {
  const { stats, hooks, group, consumeTimeoutMs } = services
  const { runtime } = services.broker
  const messages = batch.map(({ message }) => asSent(message))
  const topic = messages[0]?.topic ?? queue.mq.topic
  const startedAt = runtime.monotonic()
  if (services.journal) journalStart(queue, services, batch, attempts)
  const endHooks =
    hooks.length === 0
      ? undefined
      : beginHooks(hooks, { group, mq: queue.mq, messages }, (error) =>
          services.emit({ kind: 'notice', text: `a hook failed: ${String(error)}` }),
        )
  return {
    messages,
    ended: ({ outcome, threw = false }) => {
      const durationMs = runtime.monotonic() - startedAt
      const isOk = outcome.kind === 'success' || outcome.kind === 'commit'
      stats.consumed(topic, batch.length, isOk, durationMs)
      endHooks?.({ status: threw ? null : statusOf(outcome), threw, durationMs, timeoutMs: consumeTimeoutMs })
    },
  }
}

/** A message of the retry topic is shown where it was sent to, as RocketMQ restores its topic. */
function asSent(message: MessageExt): MessageExt {
  const { origin } = message
  return origin ? { ...message, ...origin } : message
}

function statusOf({ kind }: Outcome): ConsumeStatus {
  switch (kind) {
    case 'success':
    case 'commit':
    case 'rollback':
      return kind
    case 'rejected':
      return 'dead-letter'
    default:
      return 'retry'
  }
}
