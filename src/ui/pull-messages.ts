import {
  type Broker,
  type HeldQueue,
  type MessageExt,
  PULL_BATCH_MAX,
  PullConsumer,
  type PullEvent,
  systemRuntime,
  waitForMessages,
} from '../core/index.ts'
import { readMessages, selectedQueues } from './peek-messages.ts'

export interface PullCommandOptions {
  readonly topic: string
  readonly group: string
  readonly queueId: number | undefined
  readonly tags: string | undefined
  readonly sql: string | undefined
  readonly count: number
  /** How long to wait for a first message, in milliseconds. */
  readonly waitMs: number
  readonly signal: AbortSignal
  /** Resolves when the messages are written; what it was not given to the end is not acknowledged. */
  readonly print: (messages: readonly MessageExt[]) => Promise<void>
}

export interface AckOptions extends PullCommandOptions {
  readonly onHeld: (held: readonly HeldQueue[]) => void
  readonly onEvent: (event: PullEvent) => void
}

/**
 * Prints what comes next for a group, under the locks of its queues, and commits it when all of it was written;
 * answers how many. LOCK_HELD when others have all the queues.
 */
export async function pullAndAck(broker: Broker, options: AckOptions): Promise<number> {
  const { group, tags, sql, count, signal } = options
  await using consumer = new PullConsumer(broker, {
    group,
    ...(tags !== undefined && { tags }),
    ...(sql !== undefined && { sql }),
    onEvent: options.onEvent,
  })
  const queues = await queuesOf(broker, options)
  const { assigned, held } = await consumer.tryAssign(queues)
  // None can be had: this says why, unless one became free in this moment.
  if (assigned.length === 0) await consumer.assign(queues)
  else if (held.length > 0) options.onHeld(held)
  let printed = 0
  while (printed < count && !signal.aborted) {
    const messages = await consumer.poll({
      max: Math.min(count - printed, PULL_BATCH_MAX),
      timeoutMs: printed === 0 ? options.waitMs : 0,
      signal,
    })
    if (messages.length === 0) break
    await options.print(messages)
    printed += messages.length
  }
  // Also when nothing was printed: what a filter passed over is no lag.
  await consumer.commitAll()
  return printed
}

/** The same without a trace: no lock, no commit, and no group where there was none. */
export async function pullWithoutAck(broker: Broker, options: PullCommandOptions): Promise<number> {
  const { waitMs, signal } = options
  const deadline = systemRuntime.monotonic() + waitMs
  for (;;) {
    const printed = await printUncommitted(broker, options)
    const rest = deadline - systemRuntime.monotonic()
    if (printed > 0 || rest <= 0 || signal.aborted) return printed
    const queues = selectedQueues(await broker.queueStats(options.topic), options)
    const places = queues.map(({ mq, maxOffset }) => ({ mq, offset: maxOffset }))
    await waitForMessages(broker, places, rest, signal)
  }
}

async function printUncommitted(broker: Broker, options: PullCommandOptions): Promise<number> {
  const { group, topic, count, signal, print } = options
  const offsets = await broker.committedOffsets(group, topic)
  let printed = 0
  for (const stats of selectedQueues(await broker.queueStats(topic), options)) {
    const own = offsets.find(({ mq }) => mq.queueId === stats.mq.queueId)
    const stretch = { stats, from: own?.offset ?? stats.minOffset, to: stats.maxOffset }
    for await (const message of readMessages(broker, stretch, options)) {
      if (isWithin(own?.ahead, message.queueOffset)) continue
      if (printed === count || signal.aborted) return printed
      await print([message])
      printed++
    }
  }
  return printed
}

async function queuesOf(broker: Broker, options: PullCommandOptions) {
  return selectedQueues(await broker.queueStats(options.topic), options).map(({ mq }) => mq)
}

/** The group is done with it already: it was sent back, dead-lettered, or finished before an earlier one. */
function isWithin(ranges: readonly (readonly [number, number])[] = [], offset: number): boolean {
  return ranges.some(([from, to]) => from <= offset && offset < to)
}
