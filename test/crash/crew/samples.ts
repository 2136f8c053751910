import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { Broker } from '../../../src/core/index.ts'
import type { RunLog } from './run-log.ts'

type Ranges = readonly (readonly [from: number, to: number])[]

/** How far group `g` was in topic `t` at a moment, and what its handlers had written by then. */
export interface Sample {
  /** By queue id: what it was done with. */
  readonly done: ReadonlyMap<number, Ranges>
  /** Numbers of messages that were dead, or had been sent back, at the same moment. */
  readonly away: ReadonlySet<number>
  /** Notes in the log, looked at after the rest. */
  readonly notes: number
}

/** Whether the group was done with a message. */
export function isDone({ done }: Sample, queueId: number, offset: number): boolean {
  return done.get(queueId)?.some(([from, to]) => from <= offset && offset < to) ?? false
}

const OFFSETS = `select q.queue_id as queueId, o.committed_offset as committed, o.ahead
  from consumer_offset o join queue q on q.id = o.queue_id join topic t on t.id = q.topic_id where t.name = 't'`
const RETRY_QUEUE = `select q.id from queue q join topic t on t.id = q.topic_id where t.name = '%RETRY%g'`

/** Reads the file itself, since all of a sample has to be of one moment. */
export class Sampler {
  readonly samples: Sample[] = []
  readonly #file: Database.Database
  readonly #log: RunLog

  constructor(db: string, log: RunLog) {
    this.#file = new Database(db, { readonly: true })
    this.#log = log
    onTestFinished(() => {
      this.#file.close()
    })
  }

  look(): void {
    const { done, away } = this.#file.transaction(() => ({ done: this.#done(), away: this.#away() }))()
    this.samples.push({ done, away, notes: this.#log.look() })
  }

  #done(): Map<number, Ranges> {
    const rows = this.#file.prepare<[], { queueId: number; committed: number; ahead: string | null }>(OFFSETS)
    return new Map(
      rows
        .all()
        .map(({ queueId, committed, ahead }) => [queueId, [[0, committed], ...JSON.parse(ahead ?? '[]')]]),
    )
  }

  #away(): Set<number> {
    const retry = this.#file.prepare<[], number>(RETRY_QUEUE).pluck().get()
    const sentBack = retry === undefined ? '' : `union all select body from message_${retry}`
    const bodies = this.#file
      .prepare<[], string>(
        `select cast(body as text) from (
           select body from dead_letter union all select body from delayed_message ${sentBack})`,
      )
      .pluck()
      .all()
    return new Set(bodies.map(Number))
  }
}

/** Messages that wait for the group, in queues and for a retry; `undefined` before it began. */
export async function waiting(broker: Broker): Promise<number | undefined> {
  if ((await broker.groupConfig('g')) === undefined) return undefined
  const queues = await broker.progress('g')
  return queues.reduce((sum, { lag, scheduled }) => sum + lag + scheduled, 0)
}
