import { type Broker, RmqError } from '../core/index.ts'

/** Refuses what would end with nothing done because the group is switched off. GROUP_CONFLICT. */
export async function refuseDisabled(broker: Broker, group: string): Promise<void> {
  const config = await broker.groupConfig(group)
  if (config === undefined || config.consumeEnable) return
  throw new RmqError('GROUP_CONFLICT', `group ${group} is disabled`, {
    why: 'its members get no messages until it is enabled again',
    hint: `rmq groups alter ${group} --consume-enable`,
    details: { group },
  })
}
