import type Database from 'better-sqlite3'
import type { ProcessIdentity } from '../../model/lock.ts'

/** A row of `client`: a client id and the process behind it. */
export interface ClientRow extends ProcessIdentity {
  readonly clientId: string
  /** File name within the liveness folder. */
  readonly liveness: string
  readonly startedAt: number
}

const COLUMNS = `client_id as clientId, pid, host, boot_id as bootId, pid_namespace as pidNamespace,
  start_time as startTime, liveness, started_at as startedAt`

/** The table `client`. Starts no transactions. */
export class Clients {
  readonly #byId: Database.Statement<[string], ClientRow>
  readonly #put: Database.Statement<[ClientRow]>
  readonly #removeUnused: Database.Statement<{ clientId: string }>

  constructor(db: Database.Database) {
    this.#byId = db.prepare(`select ${COLUMNS} from client where client_id = ?`)
    this.#put = db.prepare(
      `insert or replace into client
       (client_id, pid, host, boot_id, pid_namespace, start_time, liveness, started_at)
       values (@clientId, @pid, @host, @bootId, @pidNamespace, @startTime, @liveness, @startedAt)`,
    )
    this.#removeUnused = db.prepare(
      `delete from client where client_id = @clientId
       and not exists (select 1 from member where client_id = @clientId)
       and not exists (select 1 from queue_lock where client_id = @clientId)`,
    )
  }

  byId(clientId: string): ClientRow | undefined {
    return this.#byId.get(clientId)
  }

  put(row: ClientRow): void {
    this.#put.run(row)
  }

  /** Removes the row unless a membership or a lock still refers to it. */
  removeUnused(clientId: string): boolean {
    return this.#removeUnused.run({ clientId }).changes === 1
  }
}

/** Whether both say the same process. */
export function isSameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid === b.pid &&
    a.startTime === b.startTime &&
    a.bootId === b.bootId &&
    a.pidNamespace === b.pidNamespace &&
    a.host === b.host
  )
}
