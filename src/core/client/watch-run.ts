import type { MessageExt } from '../model/message.ts'
import { beginHooks, type EndedRun } from './consume-hook.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { HandlerRun } from './handler-run.ts'
import { journalStart } from './journal.ts'
import type { ConsumeStatus } from './listener.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Batch, ProcessQueueEntry } from './process-queue.ts'
import type { Outcome } from './settlement.ts'

/**
 * One run of the handler as hooks, statistics and the journal see it. It decides nothing. There is one for each
 * batch: without hooks and journal it is a clock read at both ends and two additions.
 */
export class WatchedRun {
  /** What the handler gets. */
  readonly messages: readonly MessageExt[]
  readonly #services: ConsumeServices
  readonly #startedAt: number
  readonly #endHooks: ((ended: EndedRun) => void) | undefined

  /** The run begins now. */
  constructor(queue: OwnedQueue, services: ConsumeServices, batch: Batch, attempts: number) {
    this.messages = batch.map(asSent)
    this.#services = services
    this.#startedAt = services.broker.runtime.monotonic()
    if (services.journal) journalStart(queue, services, batch, attempts)
    this.#endHooks = services.hooks.length === 0 ? undefined : this.#beginHooks(queue)
  }

  ended({ outcome, threw = false }: HandlerRun): void {
    const { broker, stats, consumeTimeoutMs: timeoutMs } = this.#services
    const durationMs = broker.runtime.monotonic() - this.#startedAt
    const isOk = outcome.kind === 'success' || outcome.kind === 'commit'
    stats.consumed(this.messages[0]?.topic ?? '', this.messages.length, isOk, durationMs)
    this.#endHooks?.({ status: threw ? null : statusOf(outcome), threw, durationMs, timeoutMs })
  }

  #beginHooks({ mq }: OwnedQueue): (ended: EndedRun) => void {
    const { hooks, group, emit } = this.#services
    return beginHooks(hooks, { group, mq, messages: this.messages }, (error) =>
      emit({ kind: 'notice', text: `a hook failed: ${String(error)}` }),
    )
  }
}

/** A message of the retry topic is shown where it was sent to, as RocketMQ restores its topic. */
function asSent({ message }: ProcessQueueEntry): MessageExt {
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
