import type { Broker } from '../broker.ts'
import type { AuditFilter, AuditReport } from '../model/audit.ts'
import { RmqError } from '../model/errors.ts'

/**
 * Checks the invariants on everything that is stored, or on one topic or group of it. Changes nothing.
 * UNSUPPORTED_BY_BROKER when the broker does not let anyone look at its store; TOPIC_NOT_FOUND and
 * GROUP_NOT_FOUND when what the filter names is not there, because "no violations" would be a false comfort.
 */
export async function verify(broker: Broker, filter: AuditFilter = {}): Promise<AuditReport> {
  if (broker.audit === undefined) {
    throw new RmqError('UNSUPPORTED_BY_BROKER', 'this broker cannot be verified', {
      why: `a ${broker.kind} broker does not show what it has stored`,
      hint: 'use rmq verify --db PATH on an embedded store',
    })
  }
  const { topic, group } = filter
  if (topic !== undefined && (await broker.topicConfig(topic)) === undefined) {
    throw new RmqError('TOPIC_NOT_FOUND', `topic ${topic} does not exist`, { hint: 'rmq topics list' })
  }
  if (group !== undefined && (await broker.groupConfig(group)) === undefined) {
    throw new RmqError('GROUP_NOT_FOUND', `group ${group} does not exist`, { hint: 'rmq groups list' })
  }
  return await broker.audit(filter)
}
