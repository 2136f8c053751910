import type Database from 'better-sqlite3'
import type { ConsumeMode, MessageModel } from '../../model/group.ts'
import type { ClientRow } from './clients.ts'

/** A row of `member`. */
export interface MemberRow {
  readonly groupId: number
  readonly clientId: string
  readonly mode: ConsumeMode
  readonly messageModel: MessageModel
  /** Name of its allocation strategy. */
  readonly allocate: string
  /** JSON of `Subscription[]`, sorted by topic. */
  readonly subscriptions: string
  readonly lockTtlMs: number
  readonly heartbeatAt: number
  readonly expiresMono: number
  /** JSON of `ConsumerStatus`; null when it told nothing. */
  readonly status: string | null
}

/** A member and the process behind it. */
export type MemberClientRow = MemberRow & ClientRow

const COLUMNS = `m.group_id as groupId, m.client_id as clientId, m.mode, m.message_model as messageModel,
  m.allocate, m.subscriptions, m.lock_ttl_ms as lockTtlMs, m.heartbeat_at as heartbeatAt,
  m.expires_mono as expiresMono, m.status`

/** The table `member`. Starts no transactions. */
export class Members {
  readonly #byKey: Database.Statement<[number, string], MemberRow>
  readonly #byGroup: Database.Statement<[number], MemberClientRow>
  readonly #put: Database.Statement<[MemberRow]>
  readonly #remove: Database.Statement<[number, string]>
  readonly #removeClient: Database.Statement<[string]>
  readonly #clientIds: Database.Statement<[], string>
  readonly #expired: Database.Statement<[number, string], [number, string]>

  constructor(db: Database.Database) {
    this.#byKey = db.prepare(`select ${COLUMNS} from member m where m.group_id = ? and m.client_id = ?`)
    this.#byGroup = db.prepare(
      `select ${COLUMNS}, c.pid, c.host, c.boot_id as bootId, c.pid_namespace as pidNamespace,
         c.start_time as startTime, c.liveness, c.started_at as startedAt
       from member m join client c on c.client_id = m.client_id
       where m.group_id = ? order by m.client_id`,
    )
    this.#put = db.prepare(
      `insert or replace into member
       (group_id, client_id, mode, message_model, allocate, subscriptions, lock_ttl_ms, heartbeat_at, expires_mono,
        status)
       values (@groupId, @clientId, @mode, @messageModel, @allocate, @subscriptions, @lockTtlMs, @heartbeatAt,
        @expiresMono, @status)`,
    )
    this.#remove = db.prepare(`delete from member where group_id = ? and client_id = ?`)
    this.#removeClient = db.prepare(`delete from member where client_id = ?`)
    this.#clientIds = db
      .prepare<[], string>(`select distinct client_id from member order by client_id`)
      .pluck()
    this.#expired = db
      .prepare<[number, string], [number, string]>(
        `select m.group_id, m.client_id from member m join client c on c.client_id = m.client_id
         where m.expires_mono <= ? and c.boot_id = ?`,
      )
      .raw()
  }

  byKey(groupId: number, clientId: string): MemberRow | undefined {
    return this.#byKey.get(groupId, clientId)
  }

  /** Sorted by client id. */
  byGroup(groupId: number): MemberClientRow[] {
    return this.#byGroup.all(groupId)
  }

  put(row: MemberRow): void {
    this.#put.run(row)
  }

  remove(groupId: number, clientId: string): boolean {
    return this.#remove.run(groupId, clientId).changes === 1
  }

  /** Takes a client out of all its groups; answers from how many. */
  removeClient(clientId: string): number {
    return this.#removeClient.run(clientId).changes
  }

  /** Every client that is a member of some group, sorted. */
  clientIds(): string[] {
    return this.#clientIds.all()
  }

  /** Group id and client id of members of this boot whose time ran out. */
  expired(monotonic: number, bootId: string): [groupId: number, clientId: string][] {
    return this.#expired.all(monotonic, bootId)
  }
}
