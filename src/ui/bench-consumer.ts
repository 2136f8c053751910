import {
  BENCH_TAG,
  type Broker,
  ConcurrentConsumer,
  type ConsumePlan,
  type Handler,
  type MessageExt,
  type MessageListener,
  OrderlyConsumer,
  PipeHandler,
} from '../core/index.ts'
import { benchChildCommand } from './bench-child.ts'
import { pause } from './pause.ts'

export interface BenchConsumerOptions {
  readonly group: string
  readonly topic: string
  /** End after so many messages. Default: when the signal is aborted. */
  readonly count?: number
  /** Hears of each message when its handler is done with it. */
  readonly onMessage: (message: MessageExt) => void
  readonly signal?: AbortSignal
}

/** A handler of a benchmark that waits is cut short soon: nobody needs what it would do. */
const DRAIN_TIMEOUT_MS = 200

/** Consumes in this process as a plan says. Resolves when the offsets are stored and the group is left. */
export function consumeByPlan(
  broker: Broker,
  plan: ConsumePlan,
  { group, topic, count, onMessage, signal }: BenchConsumerOptions,
): Promise<unknown> {
  const common = {
    group,
    topics: [topic],
    batch: plan.batch,
    drainTimeoutMs: DRAIN_TIMEOUT_MS,
    ...(plan.tagEvery > 1 && { tags: BENCH_TAG }),
    ...(count !== undefined && { count }),
  }
  const consumer =
    plan.mode === 'concurrent'
      ? new ConcurrentConsumer(broker, common)
      : new OrderlyConsumer(broker, { ...common, perKey: plan.perKey })
  return consumer.start(handlerOf(plan, onMessage), signal === undefined ? {} : { signal })
}

function handlerOf(
  { pipe, workMs }: ConsumePlan,
  onMessage: (message: MessageExt) => void,
): MessageListener | Handler {
  if (pipe) return pipedHandler(onMessage)
  if (workMs === 0) {
    return (messages) => {
      for (const message of messages) onMessage(message)
    }
  }
  return async (messages, { signal }) => {
    await pause(workMs, signal)
    if (signal.aborted) return 'retry'
    for (const message of messages) onMessage(message)
    return 'success'
  }
}

function pipedHandler(onMessage: (message: MessageExt) => void): Handler {
  const handler = new PipeHandler({
    command: benchChildCommand(),
    onStderr: (chunk) => void process.stderr.write(chunk),
  })
  return {
    kind: handler.kind,
    close: () => handler.close(),
    consume: async (messages, context) => {
      const answer = await handler.consume(messages, context)
      if (typeof answer === 'object' && answer.status !== 'success') return answer
      for (const message of messages) onMessage(message)
      return answer
    },
  }
}
