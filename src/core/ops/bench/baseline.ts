import type { Message } from '../../model/message.ts'

/** A row of the baseline begins with its offset and ends with its body; what lies between concerns nobody here. */
export type BaselineRow = readonly [offset: number, ...rest: unknown[]]

/** The side that a benchmark compares with: the same storage work without rmq. */
export interface Baseline {
  /** Appends message i to queue `queueIds[i]`, in transactions of `commitSize`, each durable before the next. */
  send(messages: readonly Message[], queueIds: readonly number[], commitSize: number): void
  /** Reads everything, queue by queue in turns, and stores offsets every 50 ms. */
  consume(onRow: (queueId: number, row: BaselineRow) => void): void
}
