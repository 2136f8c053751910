import type { ConsumePlan } from './consume-plan.ts'
import type { SendMode } from './send-workload.ts'
import type { BenchSettings } from './settings.ts'

/**
 * What a benchmark's main process and its worker processes say to each other. A worker does one thing at a time and
 * answers every order once. Times are the host's monotonic clock, which all processes share.
 */
export interface WorkerSpec {
  readonly role: 'producer' | 'consumer'
  /** `raw` works on the baseline's file. */
  readonly side: 'ours' | 'raw'
  /** The file of that side. */
  readonly path: string
  readonly settings: BenchSettings
  /** Which of the workers of this role it is, from 0. */
  readonly index: number
  /** Bodies begin with the time of their sending, and a consumer measures latencies. */
  readonly stamped: boolean
  /** Of a consumer of ours. Default: in order, with a handler that does nothing. */
  readonly plan?: ConsumePlan
}

/** Send as fast as the mode allows for `ms` milliseconds. */
export interface SendOrder {
  readonly do: 'send'
  readonly mode: SendMode
  readonly ms: number
}

/** Send `count` stamped messages, evenly spaced. */
export interface ProduceOrder {
  readonly do: 'produce'
  readonly count: number
  readonly perSecond: number
}

/** Start to consume as a member of the group. */
export interface JoinOrder {
  readonly do: 'join'
  readonly group: string
}

/** Say what was consumed since the last time, and go on. */
export interface CollectOrder {
  readonly do: 'collect'
}

/** Leave the group. */
export interface LeaveOrder {
  readonly do: 'leave'
}

/** Say how much memory the process has taken at most, in bytes. */
export interface MemoryOrder {
  readonly do: 'memory'
}

/** Stop as by SIGSTOP, behind the answer, and between two transactions; see `BenchWorker.thaw`. */
export interface FreezeOrder {
  readonly do: 'freeze'
}

export type ProducerOrder = SendOrder | ProduceOrder
export type ConsumerOrder = JoinOrder | CollectOrder | LeaveOrder
/** Orders that concern the process, whatever its role. */
export type ProcessOrder = MemoryOrder | FreezeOrder
export type WorkerOrder = ProducerOrder | ConsumerOrder | ProcessOrder

/** What was consumed since the last `collect`. */
export interface Collected {
  readonly count: number
  /** Of the first and last message; 0 when there was none. */
  readonly firstAt: number
  readonly lastAt: number
  /** Milliseconds from just before the send to the start of the handler, of stamped messages. */
  readonly latencies: readonly number[]
}

/** One worker process, as the main process sees it. Orders reject when the worker fails or dies. */
export interface BenchWorker {
  order(order: SendOrder): Promise<{ readonly count: number; readonly ms: number }>
  order(order: ProduceOrder | JoinOrder | LeaveOrder | FreezeOrder): Promise<null>
  order(order: CollectOrder): Promise<Collected>
  order(order: MemoryOrder): Promise<number>
  /** Lets a frozen one go on. Resolves when it does. */
  thaw(): Promise<void>
}

/** Starts a worker and resolves when it is ready for orders. */
export type StartWorker = (spec: WorkerSpec) => Promise<BenchWorker>
