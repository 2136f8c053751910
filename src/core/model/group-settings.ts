import { DURATION_UNITS } from './duration.ts'
import { RmqError } from './errors.ts'
import type { GroupChange } from './group.ts'

/** Most further tries: a signed integer of four bytes on RocketMQ's wire. */
const RECONSUME_TIMES_MAX = 2 ** 31 - 1

/** Refuses settings that a group cannot have. INVALID_ARGUMENT. */
export function checkGroupSettings({ maxReconsumeTimes, suspendMs }: GroupChange): void {
  refuseOutside('max reconsume times', maxReconsumeTimes, -1, RECONSUME_TIMES_MAX)
  refuseOutside('suspend time in milliseconds', suspendMs, 0, DURATION_UNITS.d)
}

function refuseOutside(what: string, value: number | undefined, min: number, max: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= max)) return
  throw new RmqError('INVALID_ARGUMENT', `${what}: ${value} is not allowed`, {
    why: `it is a whole number from ${min} to ${max}`,
    hint: 'rmq groups alter --help',
    details: { value, min, max },
  })
}
