import type { Barrier } from '../core/index.ts'
import { formatCount } from './quantities.ts'
import { isoTime } from './records.ts'
import type { Column } from './table.ts'

/** A queue in which a group has to go on before it is past the barrier. */
export interface BarrierDebt {
  readonly group: string
  readonly queueId: number
  readonly committedOffset: number | null
  readonly offset: number
}

export function barrierDebts({ heldUpBy }: Barrier): readonly BarrierDebt[] {
  return heldUpBy.flatMap(({ group, queues }) => queues.map((queue) => ({ group, ...queue })))
}

export const barrierDebtColumns: readonly Column<BarrierDebt>[] = [
  { header: 'GROUP', value: (debt) => debt.group, style: () => 'bold' },
  { header: 'QUEUE', value: (debt) => debt.queueId },
  { header: 'COMMITTED', value: (debt) => debt.committedOffset },
  { header: 'BARRIER', value: (debt) => debt.offset },
]

/** The oldest barrier that stands, `null` when none does; `later` counts those behind it. */
export function barrierRecord(barriers: readonly Barrier[]) {
  const [oldest, ...later] = barriers
  if (!oldest) return null
  const { fromQueues, toQueues, createdAt, heldUpBy } = oldest
  return { fromQueues, toQueues, createdAt: isoTime(createdAt), heldUpBy, later: later.length }
}

/** `8 to 12 queues, holds 2 groups`. */
export function barrierText(barriers: readonly Barrier[]): string | null {
  const [oldest, ...later] = barriers
  if (!oldest) return null
  const groups = oldest.heldUpBy.length === 1 ? '1 group' : `${formatCount(oldest.heldUpBy.length)} groups`
  const more = later.length === 0 ? '' : `, ${formatCount(later.length)} more behind it`
  return `${oldest.fromQueues} to ${oldest.toQueues} queues, holds ${groups}${more}`
}
