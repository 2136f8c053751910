import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { ConsumeStatus } from './listener.ts'

/** How a run of a handler is labelled (RocketMQ `ConsumeReturnType`); it decides nothing. */
export type ConsumeReturnType = 'SUCCESS' | 'TIME_OUT' | 'EXCEPTION' | 'RETURNNULL' | 'FAILED'

/** What a hook sees (RocketMQ `ConsumeMessageContext`). `before` and `after` of one run get the same object. */
export interface ConsumeHookContext {
  readonly group: string
  readonly mq: MessageQueue
  readonly messages: readonly MessageExt[]
  /** Whether the handler answered `success` or `commit`, however late. False before the run. */
  readonly success: boolean
  /** `null` before the run. */
  readonly status: ConsumeReturnType | null
}

/**
 * Code around every run of the handler, for tracing and measuring (RocketMQ `ConsumeMessageHook`). It is called
 * synchronously and cannot change what becomes of the messages.
 */
export interface ConsumeHook {
  before?(context: ConsumeHookContext): void
  after?(context: ConsumeHookContext): void
}

export interface EndedRun {
  /** What the handler answered; `null` when it threw, or answered `null`. No answer (`undefined`) is `success`. */
  readonly status: ConsumeStatus | null
  readonly threw: boolean
  readonly durationMs: number
  /** RocketMQ's `consumeTimeout`, in milliseconds. */
  readonly timeoutMs: number
}

/**
 * Calls `before` of all hooks in their order; returns what calls `after`. What a hook throws goes to `onError`: as in
 * RocketMQ a broken hook disturbs neither the others nor the messages.
 */
export function beginHooks(
  hooks: readonly ConsumeHook[],
  run: Pick<ConsumeHookContext, 'group' | 'mq' | 'messages'>,
  onError: (error: unknown) => void,
): (ended: EndedRun) => void {
  const context: { -readonly [K in keyof ConsumeHookContext]: ConsumeHookContext[K] } = {
    ...run,
    success: false,
    status: null,
  }
  const call = (moment: 'before' | 'after') => {
    for (const hook of hooks) {
      try {
        hook[moment]?.(context)
      } catch (error) {
        onError(error)
      }
    }
  }
  call('before')
  return (ended) => {
    context.status = returnTypeOf(ended)
    context.success = ended.status === 'success' || ended.status === 'commit'
    call('after')
  }
}

/** RocketMQ's label of a run, in its order of tests: what comes late is a TIME_OUT, success or not. */
export function returnTypeOf({ status, threw, durationMs, timeoutMs }: EndedRun): ConsumeReturnType {
  if (status === null) return threw ? 'EXCEPTION' : 'RETURNNULL'
  if (durationMs >= timeoutMs) return 'TIME_OUT'
  return status === 'retry' || status === 'dead-letter' ? 'FAILED' : 'SUCCESS'
}
