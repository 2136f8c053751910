import { RmqError } from '../../model/errors.ts'
import { type Runtime, sleep } from '../../model/runtime.ts'
import type { MeasureGroup } from './bench-consume.ts'
import type { BenchWorker, Collected } from './orders.ts'

/** How often consumers are asked whether all has arrived. */
const COLLECT_MS = 50
/** Longest time without any message: something is broken. */
const SILENCE_MS_MAX = 15_000

/** Asks consumers until they have consumed `count` messages together. TIMED_OUT when nothing comes any more. */
export async function collectAll(
  consumers: readonly BenchWorker[],
  count: number,
  runtime: Runtime,
): Promise<readonly Collected[]> {
  const parts: Collected[] = []
  let arrived = 0
  let lastNewsAt = runtime.monotonic()
  for (;;) {
    const news = await Promise.all(consumers.map((consumer) => consumer.order({ do: 'collect' })))
    const some = news.filter((part) => part.count > 0)
    parts.push(...some)
    arrived += some.reduce((sum, part) => sum + part.count, 0)
    if (arrived >= count) return parts
    const now = runtime.monotonic()
    if (some.length > 0) lastNewsAt = now
    if (now - lastNewsAt > SILENCE_MS_MAX) {
      throw new RmqError('TIMED_OUT', 'messages of the benchmark did not arrive', {
        why: `${arrived} of ${count} came, and nothing more for ${SILENCE_MS_MAX / 1000} s`,
      })
    }
    await sleep(runtime, COLLECT_MS)
  }
}

/** Several consumer processes of one group, measured from the first message of any to the last of any. */
export function measureTeam(consumers: readonly BenchWorker[], runtime: Runtime): MeasureGroup {
  return async (group, count) => {
    await Promise.all(consumers.map((consumer) => consumer.order({ do: 'join', group })))
    const parts = await collectAll(consumers, count, runtime)
    await Promise.all(consumers.map((consumer) => consumer.order({ do: 'leave' })))
    const firstAt = Math.min(...parts.map((part) => part.firstAt))
    const lastAt = Math.max(...parts.map((part) => part.lastAt))
    return { count: parts.reduce((sum, part) => sum + part.count, 0), ms: lastAt - firstAt }
  }
}
