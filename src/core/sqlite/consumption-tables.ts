import type Database from 'better-sqlite3'
import { Attempts } from './tables/attempts.ts'
import { BarrierTable } from './tables/barriers.ts'
import { BroadcastOffsets } from './tables/broadcast-offsets.ts'
import { Changes } from './tables/changes.ts'
import { Clients } from './tables/clients.ts'
import { ConsumerOffsets } from './tables/consumer-offsets.ts'
import { DeadLetters } from './tables/dead-letters.ts'
import { Deliveries } from './tables/deliveries.ts'
import { Groups } from './tables/groups.ts'
import { Members } from './tables/members.ts'
import { ParkedKeyTable } from './tables/parked-keys.ts'
import { QueueLocks } from './tables/queue-locks.ts'
import { Refusals } from './tables/refusals.ts'

/** The tables of what groups do; those of topics and messages are shared with the senders and readers. */
export function consumptionTables(db: Database.Database) {
  return {
    groups: new Groups(db),
    clients: new Clients(db),
    members: new Members(db),
    changes: new Changes(db),
    refusals: new Refusals(db),
    attempts: new Attempts(db),
    queueLocks: new QueueLocks(db),
    deadLetters: new DeadLetters(db),
    consumerOffsets: new ConsumerOffsets(db),
    broadcastOffsets: new BroadcastOffsets(db),
    parkedKeys: new ParkedKeyTable(db),
    deliveries: new Deliveries(db),
    barriers: new BarrierTable(db),
  }
}
