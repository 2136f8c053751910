import type { HandlerProcess } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'

/**
 * What a handler says of the messages it got. `success` and `retry` are RocketMQ's SUCCESS and
 * SUSPEND_CURRENT_QUEUE_A_MOMENT or RECONSUME_LATER; `commit` and `rollback` are those of manual commit, and
 * without it mean success, as in RocketMQ.
 */
export const CONSUME_STATUSES = ['success', 'retry', 'dead-letter', 'commit', 'rollback'] as const
export type ConsumeStatus = (typeof CONSUME_STATUSES)[number]

export interface ConsumeResult {
  readonly status: ConsumeStatus
  /** Why it failed; kept as `lastError`. */
  readonly error?: string
  /** Pause before the next try, in milliseconds, instead of the back-off. */
  readonly suspendMs?: number
  /**
   * With `success`: the last message of the batch that succeeded, counted from 0; those behind it failed
   * (RocketMQ `ConsumeConcurrentlyContext.ackIndex`). Where order is kept a batch succeeds as a whole or not.
   */
  readonly ackIndex?: number
  /**
   * Of a batch whose messages were answered one by one, the result of each, in the order of the batch. Where order is
   * kept the batch is one unit and has `status`; else each message is settled by its own result.
   */
  readonly results?: readonly ConsumeResult[]
}

/** What a handler may know and do while it runs (RocketMQ `ConsumeOrderlyContext`, `ConsumeConcurrentlyContext`). */
export interface ConsumeContext {
  readonly group: string
  readonly mq: MessageQueue
  /** 1 for the first time. */
  readonly attempt: number
  /** Aborted when a stop no longer waits for this handler: end at once. */
  readonly signal: AbortSignal
  /**
   * Says in which process the handler runs, before that process does anything: should this client die,
   * the next owner waits for it. Resolves when it is recorded; false means that the lock is lost, so do not begin.
   */
  runsIn(process: HandlerProcess): Promise<boolean>
}

/**
 * A user's code, wherever it runs. Throwing, or a status of `retry`, means: again later.
 * An `RmqError` of code HANDLER_NOT_FOUND or HANDLER_FAILED ends the consumer; no attempt is counted.
 */
export type MessageListener = (
  messages: readonly MessageExt[],
  context: ConsumeContext,
) => ConsumeResult | ConsumeStatus | void | Promise<ConsumeResult | ConsumeStatus | void>

/** A listener with a process behind it. */
export interface Handler {
  /** `process`: each start is stored before it begins, because its cost is small beside a process. */
  readonly kind: 'function' | 'process'
  readonly consume: MessageListener
  /** Finds out whether it can run at all, before the group is joined. HANDLER_NOT_FOUND. */
  open?(): Promise<void>
  /** Ends whatever it holds open. */
  close(): Promise<void>
}
