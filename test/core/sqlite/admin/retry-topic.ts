import type { Fence } from '../../../../src/core/broker.ts'
import { type Engine, mq, orderly } from '../engine.ts'

/** Joins as a concurrent member, whose group has a retry topic, and owns the queue. */
export async function ownConcurrently(engine: Engine, group: string, clientId: string): Promise<Fence> {
  const queue = mq('orders', 0)
  await engine.join(group, clientId, { ...orderly('orders'), mode: 'concurrent' })
  const grant = await engine.lock(group, clientId, queue)
  if (!grant.granted) throw new Error('not granted')
  return { group, clientId, mq: queue, epoch: grant.epoch }
}
