import { formatDuration } from '../../model/duration.ts'
import type { ConsumeMode } from '../../model/group.ts'
import { CONSUME_THREADS_DEFAULT } from '../../model/limits.ts'
import type { MessageOrder } from './consume-workload.ts'

/** How a measured consumer goes about its messages. */
export interface ConsumePlan {
  readonly mode: ConsumeMode
  /** Keys of a queue that run at once; orderly only. */
  readonly perKey: number
  /** Messages of one run of the handler. */
  readonly batch: number
  /** Only every n-th message has the tag that the consumer asks for. 1: it asks for none. */
  readonly tagEvery: number
  /** How long each run of the handler waits, in milliseconds. */
  readonly workMs: number
  /** The handler is a child process that answers every record with success. */
  readonly pipe: boolean
}

/** In order, with a handler that does nothing. */
export const PLAIN_PLAN: ConsumePlan = {
  mode: 'orderly',
  perKey: 1,
  batch: 1,
  tagEvery: 1,
  workMs: 0,
  pipe: false,
}

/** The tag that a consumer asks for. */
export const BENCH_TAG = 'wanted'

/** How many of the messages come to the handler. */
export function wantedOf(messages: number, { tagEvery }: ConsumePlan): number {
  return Math.ceil(messages / tagEvery)
}

/** The order in which they have to come. */
export function orderOf({ mode, perKey }: ConsumePlan): MessageOrder {
  if (mode === 'concurrent') return 'none'
  return perKey > 1 ? 'key' : 'queue'
}

export function planName({ mode, perKey, batch, tagEvery, workMs, pipe }: ConsumePlan): string {
  const keys = perKey > 1 ? `${perKey} keys at once` : 'in order per queue'
  return [
    mode === 'concurrent' ? `concurrent, ${CONSUME_THREADS_DEFAULT} at once` : `orderly, ${keys}`,
    ...(batch > 1 ? [`batches of ${batch}`] : []),
    ...(tagEvery > 1 ? [`tag of 1 in ${tagEvery}`] : []),
    ...(workMs > 0 ? [`${formatDuration(workMs)} of work`] : []),
    ...(pipe ? ['piped'] : []),
  ].join(', ')
}

/** What of a plan is not the usual belongs to the settings of its report. */
export function planSettings(plan: ConsumePlan): Record<string, number | string> {
  const { mode, perKey, batch, tagEvery, workMs, pipe } = plan
  return {
    mode,
    ...(perKey > 1 && { perKey }),
    ...(batch > 1 && { batch }),
    ...(tagEvery > 1 && { tagEvery }),
    ...(workMs > 0 && { workMs }),
    ...(pipe && { handler: 'pipe' }),
  }
}
