import { RmqError } from '../model/errors.ts'
import type { HandlerProcess } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import type { ConsumeServices } from './consume-services.ts'
import type { ConsumeContext, ConsumeResult, ConsumeStatus } from './listener.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Outcome } from './settlement.ts'

/** How a run ended, with the handler's own words. */
export interface HandlerRun {
  readonly outcome: Outcome
  readonly error: string | null
  /** Set when the consumer has to end with it. */
  readonly fatal?: unknown
}

type Answer = ConsumeResult | ConsumeStatus | void

const SUCCESS: HandlerRun = { outcome: { kind: 'success' }, error: null }

/** Calls the handler. Never throws or rejects: whatever the handler does is an outcome. */
export function runHandler(
  queue: OwnedQueue,
  services: ConsumeServices,
  messages: readonly MessageExt[],
  attempt: number,
): HandlerRun | Promise<HandlerRun> {
  const answered = (answer: Answer) => toRun(toResult(answer), services.cutShort)
  const threw = (error: unknown) => thrownRun(error, services.cutShort)
  try {
    const answer = services.handler.consume(messages, consumeContext(queue, services, attempt))
    return answer instanceof Promise ? answer.then(answered, threw) : answered(answer)
  } catch (error) {
    return threw(error)
  }
}

/** No answer (undefined) is success, as for any function that did its work. */
function toResult(answer: Answer): ConsumeResult {
  if (answer === undefined) return { status: 'success' }
  return typeof answer === 'string' ? { status: answer } : answer
}

function thrownRun(error: unknown, stop: AbortSignal): HandlerRun {
  if (isFatal(error)) return { outcome: { kind: 'fatal' }, error: error.message, fatal: error }
  const text = error instanceof Error ? error.message : String(error)
  return stop.aborted ? cutShort(text) : { outcome: { kind: 'failed' }, error: text }
}

function toRun(result: ConsumeResult, stop: AbortSignal): HandlerRun {
  if (stop.aborted && result.status !== 'success') return cutShort(result.error)
  switch (result.status) {
    case 'success':
      return SUCCESS
    case 'dead-letter':
      return { outcome: { kind: 'rejected' }, error: result.error ?? null }
    case 'retry':
      return { outcome: { kind: 'failed', suspendMs: result.suspendMs }, error: result.error ?? null }
    default:
      return {
        outcome: { kind: 'failed' },
        error: `the handler answered ${JSON.stringify(result)}; a status is success, retry or dead-letter`,
      }
  }
}

function cutShort(error: string | undefined): HandlerRun {
  return { outcome: { kind: 'cut-short' }, error: error ?? null }
}

function isFatal(error: unknown): error is RmqError {
  return error instanceof RmqError && (error.code === 'HANDLER_NOT_FOUND' || error.code === 'HANDLER_FAILED')
}

function consumeContext(queue: OwnedQueue, services: ConsumeServices, attempt: number): ConsumeContext {
  return {
    group: services.group,
    mq: queue.mq,
    attempt,
    signal: services.cutShort,
    runsIn: (process) => recordProcess(queue, services, process),
  }
}

async function recordProcess(
  queue: OwnedQueue,
  { broker }: ConsumeServices,
  process: HandlerProcess,
): Promise<boolean> {
  const known = queue.handlerProcess
  if (known?.pid === process.pid && known.startTime === process.startTime) return !queue.isLost
  if (broker.attempts && !(await broker.attempts.runsIn(queue.fence, process))) return false
  queue.handlerProcess = process
  return !queue.isLost
}
