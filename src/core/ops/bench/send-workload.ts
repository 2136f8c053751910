import type { Message } from '../../model/message.ts'
import type { Runtime } from '../../model/runtime.ts'
import type { Measure } from './rounds.ts'
import { BENCH_IN_FLIGHT } from './settings.ts'

/** In batches, many single sends at the same time, or each send after the one before was acknowledged. */
export const SEND_MODES = ['bulk', 'pipelined', 'single'] as const
export type SendMode = (typeof SEND_MODES)[number]

/** What of a producer is measured. */
export interface BenchProducer {
  send(message: Message): Promise<unknown>
  sendBatch(messages: readonly Message[]): Promise<unknown>
}

/** How many of the messages a mode sends: the slower ones get fewer, so that all take about as long. */
export const SHARE_OF_MODE: Readonly<Record<SendMode, number>> = { bulk: 1, pipelined: 0.25, single: 0.01 }

/** Messages that share one commit at best: what the baseline puts into one transaction. */
export function commitSize(mode: SendMode, batch: number): number {
  return { bulk: batch, pipelined: BENCH_IN_FLIGHT, single: 1 }[mode]
}

/** Sends all messages and measures until the last one is acknowledged. */
export async function measureSend(
  producer: BenchProducer,
  mode: SendMode,
  messages: readonly Message[],
  batch: number,
  runtime: Runtime,
): Promise<Measure> {
  const startedAt = runtime.monotonic()
  await SENDERS[mode](producer, messages, batch)
  return { count: messages.length, ms: runtime.monotonic() - startedAt }
}

const SENDERS: Readonly<
  Record<SendMode, (producer: BenchProducer, messages: readonly Message[], batch: number) => Promise<void>>
> = {
  async bulk(producer, messages, batch) {
    for (let i = 0; i < messages.length; i += batch) await producer.sendBatch(messages.slice(i, i + batch))
  },
  async pipelined(producer, messages) {
    let next = 0
    const lane = async () => {
      for (let message = messages[next++]; message !== undefined; message = messages[next++]) {
        await producer.send(message)
      }
    }
    await Promise.all(Array.from({ length: BENCH_IN_FLIGHT }, lane))
  },
  async single(producer, messages) {
    for (const message of messages) await producer.send(message)
  },
}
