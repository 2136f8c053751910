import type { Broker, LockFilter } from '../core/index.ts'
import { cellForPeople, cellForPrograms, instant } from './cell.ts'
import type { LockEvent, LockEventKind } from './lock-events.ts'
import type { Output } from './output.ts'
import { isoTime, lockRecord } from './records.ts'
import { listenForStop } from './signals.ts'
import { paint, type Style } from './style.ts'
import { watchLocks } from './watch-locks.ts'

const STYLES: Readonly<Record<LockEventKind, Style>> = {
  acquired: 'green',
  renewed: 'dim',
  released: 'cyan',
  lost: 'red',
  'taken-over': 'yellow',
}

/** Prints lock events, one a line, until a person stops it. */
export async function printLockEvents(
  broker: Broker,
  filter: LockFilter,
  out: Output,
  json: boolean,
): Promise<void> {
  using stop = listenForStop()
  await watchLocks(broker, filter, stop.signal, async (events) => {
    const at = Date.now()
    for (const event of events) {
      if (json)
        await out.record({ event: event.event, at: isoTime(at), from: event.from, ...lockRecord(event.lock) })
      else await out.line(eventLine(event, at, out))
    }
  })
}

/** TIME EVENT TOPIC QUEUE GROUP OWNER EPOCH, tab separated in a pipe. */
function eventLine({ event, lock, from }: LockEvent, at: number, out: Output): string {
  const owner = from === null ? lock.clientId : `${lock.clientId} from ${from}`
  const cells = [instant(at), event, lock.mq.topic, lock.mq.queueId, lock.group, owner, lock.epoch] as const
  if (!out.terminal) return cells.map(cellForPrograms).join('\t')
  const [, , ...rest] = cells.map((cell) => cellForPeople(cell, at))
  const clock = new Date(at).toTimeString().slice(0, 8)
  return [clock, paint(event.padEnd(10), STYLES[event], out.color), ...rest].join('  ')
}
