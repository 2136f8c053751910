import { hostname } from 'node:os'
import type { Broker } from '../broker.ts'
import { RmqError } from '../model/errors.ts'

/** More members of one group on one host than anyone runs. */
const MEMBERS_PER_HOST_MAX = 1024
/** Ids that consumers of this process go by; the broker tells only those of other processes apart. */
const taken = new WeakMap<Broker, Set<string>>()

/**
 * A client id that a restart finds again, since the offsets of a broadcasting member are kept under it: RocketMQ's
 * `host@DEFAULT`, and `host@DEFAULT#2` and so on where that is in use. `join` joins with an id. Answers the id, and
 * what gives it back.
 */
export async function joinBroadcasting(
  broker: Broker,
  group: string,
  join: (clientId: string) => Promise<void>,
): Promise<{ readonly clientId: string; readonly release: () => void }> {
  const ids = taken.get(broker) ?? new Set()
  taken.set(broker, ids)
  for (let n = 1; ; n++) {
    const clientId = n === 1 ? `${hostname()}@DEFAULT` : `${hostname()}@DEFAULT#${n}`
    const key = `${group}\n${clientId}`
    if (ids.has(key)) continue
    ids.add(key)
    try {
      await join(clientId)
      return { clientId, release: () => ids.delete(key) }
    } catch (error) {
      ids.delete(key)
      const isInUse = error instanceof RmqError && error.code === 'CLIENT_ID_IN_USE'
      if (!isInUse || n === MEMBERS_PER_HOST_MAX) throw error
    }
  }
}
