import type { Broker } from '../../../src/core/index.ts'
import type { RunLog } from './run-log.ts'

type Offsets = Awaited<ReturnType<Broker['committedOffsets']>>

/** How far the group was at a moment, and what its handlers had written by then. */
export interface Sample {
  readonly at: number
  readonly offsets: Offsets
  /** Message numbers of the dead letters. */
  readonly dead: ReadonlySet<number>
  /** Notes in the log, looked at after the rest. */
  readonly notes: number
}

/** Whether the group was done with a message of the topic. */
export function isDone({ offsets }: Sample, queueId: number, offset: number): boolean {
  const queue = offsets.find(({ mq }) => mq.queueId === queueId)
  if (queue === undefined) return false
  const { ahead = [] } = queue
  return offset < queue.offset || ahead.some(([from, to]) => from <= offset && offset < to)
}

/** Of group `g` and topic `t`. */
export async function takeSample(broker: Broker, log: RunLog): Promise<Sample> {
  const at = Date.now()
  const offsets = (await broker.groupConfig('g')) === undefined ? [] : await broker.committedOffsets('g', 't')
  const dead = offsets.length === 0 ? [] : await deadNumbers(broker)
  return { at, offsets, dead: new Set(dead), notes: log.look() }
}

/** Message numbers of the group's dead letters, in their order; of those in these states. */
export async function deadNumbers(
  broker: Broker,
  states: readonly ('dead' | 'parked' | 'replayed')[] = ['dead', 'parked'],
): Promise<number[]> {
  const { deadLetters } = await broker.deadLetters.list('g', { states }, { limit: 100_000 })
  return deadLetters.map(({ message }) => Number(Buffer.from(message.body).toString()))
}

/** Messages that wait for the group, in queues and for a retry; `undefined` before it began. */
export async function waiting(broker: Broker): Promise<number | undefined> {
  if ((await broker.groupConfig('g')) === undefined) return undefined
  const queues = await broker.progress('g')
  return queues.reduce((sum, { lag, scheduled }) => sum + lag + scheduled, 0)
}
