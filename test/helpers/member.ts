import type { Broker } from '../../src/core/index.ts'

/** Makes this process a member of the group and lets it lock all queues of the topic. */
export async function joinGroup(
  broker: Broker,
  member: { readonly group: string; readonly clientId: string; readonly topic: string },
) {
  const { group, clientId, topic } = member
  await broker.heartbeat({
    group,
    clientId,
    mode: 'orderly',
    subscriptions: [{ topic, expressionType: 'TAG', expression: '*' }],
    lockTtlMs: 60_000,
  })
  return broker.lockBatch(group, clientId, await broker.subscribeQueues(topic), 60_000)
}
