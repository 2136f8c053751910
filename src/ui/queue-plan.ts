import type { QueuePlan } from '../core/index.ts'
import type { Output } from './output.ts'
import { formatCount, formatPlural } from './quantities.ts'

/** Keys in the table; JSON has all of the sample. */
const MOVES_SHOWN = 20

/** What `topics alter --plan` answers. */
export async function printQueuePlan(out: Output, plan: QueuePlan, json: boolean): Promise<void> {
  if (json) return out.json(plan)
  const { topic, fromQueues, toQueues, sampled, keys, moves, dropped, drains } = plan
  const waiting = drains.flatMap(({ queues }) => queues.map(({ lag }) => lag)).reduce((a, b) => a + b, 0)
  await out.facts([
    ['topic', topic],
    ['queues', `${fromQueues} to ${toQueues}`],
    ['dropped', dropped.join(',') || null],
    ['keys that move', `${formatCount(moves.length)} of ${formatCount(keys)}`],
    ['in a sample of', formatPlural(sampled, 'message')],
    ['to drain first', formatPlural(waiting, 'message')],
  ])
  await out.gap()
  await out.table(
    [
      { header: 'KEY', value: ({ key }) => key, style: () => 'bold' },
      { header: 'FROM', value: ({ from }) => from },
      { header: 'TO', value: ({ to }) => to },
    ],
    moves.slice(0, MOVES_SHOWN),
  )
  if (drains.length > 0 && moves.length > 0) await out.gap()
  await out.table(
    [
      { header: 'GROUP', value: ({ group }) => group, style: () => 'bold' },
      { header: 'QUEUE', value: ({ queueId }) => queueId },
      { header: 'COMMITTED', value: ({ committedOffset }) => committedOffset },
      { header: 'BARRIER', value: ({ offset }) => offset },
      { header: 'LAG', value: ({ lag }) => lag },
    ],
    drains.flatMap(({ group, queues }) => queues.map((queue) => ({ group, ...queue }))),
  )
}
