import { RmqError } from '../model/errors.ts'
import type { HandlerProcess } from '../model/lock.ts'
import type { MessageExt } from '../model/message.ts'
import type { MessageQueue } from '../model/message-queue.ts'
import type { ConsumeServices } from './consume-services.ts'
import { CONSUME_STATUSES, type ConsumeContext, type ConsumeResult, type ConsumeStatus } from './listener.ts'
import type { OwnedQueue } from './owned-queue.ts'
import type { Outcome } from './settlement.ts'

/** How a run ended, with the handler's own words. */
export interface HandlerRun {
  readonly outcome: Outcome
  readonly error: string | null
  /** Of a batch whose messages ended each in its own way, in its order. */
  readonly each?: readonly HandlerRun[]
  /** It gave no answer, but an exception. */
  readonly threw?: boolean
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
  const { cutShort } = services
  const context = new RunContext(queue, services, attempt)
  try {
    const answer = services.handler.consume(messages, context)
    if (!(answer instanceof Promise)) return batchRun(toResult(answer), messages.length, cutShort)
    return awaitRun(answer, messages.length, cutShort, context)
  } catch (error) {
    return thrownRun(error, cutShort)
  }
}

async function awaitRun(
  answer: Promise<Answer>,
  size: number,
  cutShort: AbortSignal,
  context: RunContext,
): Promise<HandlerRun> {
  try {
    return batchRun(toResult(await answer), size, cutShort)
  } catch (error) {
    return thrownRun(error, cutShort)
  } finally {
    context.end()
  }
}

/** No answer (undefined) is success, as for any function that did its work. */
function toResult(answer: Answer): ConsumeResult {
  if (answer === undefined) return { status: 'success' }
  // Of a listener without types: RocketMQ's RETURNNULL, which is tried again.
  if (answer === null) return { status: 'retry', error: 'the handler answered null' }
  return typeof answer === 'string' ? { status: answer } : answer
}

function thrownRun(error: unknown, stop: AbortSignal): HandlerRun {
  if (isFatal(error)) return { outcome: { kind: 'fatal' }, error: error.message, fatal: error }
  const text = error instanceof Error ? error.message : String(error)
  return stop.aborted ? cutShort(text) : { outcome: { kind: 'failed' }, error: text, threw: true }
}

/** A batch may say of each message, or up to which one, how it ended; what it does not say of one is failure. */
function batchRun(result: ConsumeResult, size: number, stop: AbortSignal): HandlerRun {
  const whole = toRun(result, stop)
  const { results, ackIndex } = result
  if (results) {
    const unsaid: ConsumeResult = { status: 'retry', error: 'the handler said nothing of this message' }
    return { ...whole, each: Array.from({ length: size }, (_, i) => toRun(results[i] ?? unsaid, stop)) }
  }
  if (result.status !== 'success' || ackIndex === undefined || ackIndex >= size - 1) return whole
  const failed = toRun({ ...result, status: 'retry' }, stop)
  return { ...failed, each: Array.from({ length: size }, (_, i) => (i <= ackIndex ? SUCCESS : failed)) }
}

function toRun(result: ConsumeResult, stop: AbortSignal): HandlerRun {
  const error = result.error ?? null
  switch (result.status) {
    case 'success':
      return SUCCESS
    case 'commit':
      return { outcome: { kind: 'commit' }, error }
    default:
      return stop.aborted ? cutShort(result.error) : failedRun(result, error)
  }
}

function failedRun(result: ConsumeResult, error: string | null): HandlerRun {
  const { status, suspendMs } = result
  switch (status) {
    case 'rollback':
      return { outcome: { kind: 'rollback', suspendMs }, error }
    case 'dead-letter':
      return { outcome: { kind: 'rejected' }, error }
    case 'retry':
      return { outcome: { kind: 'failed', suspendMs }, error }
    default: {
      const known = CONSUME_STATUSES.join(', ')
      const text = `the handler answered ${JSON.stringify(result)}; a status is one of ${known}`
      return { outcome: { kind: 'failed' }, error: text }
    }
  }
}

function cutShort(error: string | undefined): HandlerRun {
  return { outcome: { kind: 'cut-short' }, error: error ?? null }
}

function isFatal(error: unknown): error is RmqError {
  return error instanceof RmqError && (error.code === 'HANDLER_NOT_FOUND' || error.code === 'HANDLER_FAILED')
}

/** What the handler gets. A class, since one is made for each message: an object with closures costs twice as much. */
class RunContext implements ConsumeContext {
  readonly group: string
  readonly mq: MessageQueue
  readonly attempt: number
  readonly signal: AbortSignal
  readonly #queue: OwnedQueue
  readonly #services: ConsumeServices
  #slot: number | undefined

  constructor(queue: OwnedQueue, services: ConsumeServices, attempt: number) {
    this.group = services.group
    this.mq = queue.mq
    this.attempt = attempt
    this.signal = services.cutShort
    this.#queue = queue
    this.#services = services
  }

  runsIn(process: HandlerProcess): Promise<boolean> {
    this.#slot ??= takeSlot(this.#queue)
    return recordProcess(this.#queue, this.#services, process, this.#slot)
  }

  /** The run has ended: its slot is free. */
  end(): void {
    if (this.#slot !== undefined) this.#queue.usedSlots.delete(this.#slot)
  }
}

/** The lowest that no running handler of the queue has. */
function takeSlot({ usedSlots }: OwnedQueue): number {
  let slot = 0
  while (usedSlots.has(slot)) slot++
  usedSlots.add(slot)
  return slot
}

async function recordProcess(
  queue: OwnedQueue,
  { attempts }: ConsumeServices,
  process: HandlerProcess,
  slot: number,
): Promise<boolean> {
  const isKnown = (known: HandlerProcess | undefined) =>
    known?.pid === process.pid && known.startTime === process.startTime
  // One process may serve many runs: it needs to be known once.
  if (queue.handlerProcesses.some(isKnown)) return !queue.isLost
  if (attempts && !(await attempts.runsIn(queue.fence, process, slot))) return false
  queue.handlerProcesses[slot] = process
  return !queue.isLost
}
