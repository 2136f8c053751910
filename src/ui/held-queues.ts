import type { HeldQueue } from '../core/index.ts'

/** A line for each consumer that is in the way, with the queues that it holds. */
export function heldQueueNotes(held: readonly HeldQueue[]): readonly string[] {
  const byHolder = new Map<string, number[]>()
  for (const { mq, holder } of held) {
    const who = holder ? `${holder.clientId} (${holder.pid}@${holder.host})` : 'another consumer'
    byHolder.set(who, [...(byHolder.get(who) ?? []), mq.queueId])
  }
  return [...byHolder].map(([who, ids]) => {
    const queues = ids.length === 1 ? 'queue' : 'queues'
    return `left out ${queues} ${ids.join(', ')}: held by ${who}`
  })
}
