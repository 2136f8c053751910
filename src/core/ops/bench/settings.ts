/** What all workloads have in common. */
export interface BenchSettings {
  /** A topic that nobody has used: its offsets start at 0. */
  readonly topic: string
  readonly messages: number
  /** Of each body, in bytes. */
  readonly size: number
  readonly queues: number
  /** Distinct ordering keys. */
  readonly keys: number
  /** Messages of one batch in bulk sends. */
  readonly batch: number
  readonly durability: 'full' | 'normal'
  readonly seed: number
}

/** Rounds that count, after one that warms up. Odd, so that a median is one of them. */
export const BENCH_ROUNDS = 5
/** Sends in flight at the same time in the pipelined mode. */
export const BENCH_IN_FLIGHT = 64
