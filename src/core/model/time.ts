import { tryParseDuration } from './duration.ts'
import { RmqError } from './errors.ts'

/** Numbers from here on are milliseconds since the epoch, smaller ones seconds: as seconds it is the year 5138. */
const EPOCH_MILLISECONDS_FROM = 1e11

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/
const ROCKETMQ = /^(\d{4})-(\d\d)-(\d\d)#(\d\d):(\d\d):(\d\d):(\d{3})$/

/**
 * Reads a moment as milliseconds since the epoch. `now` is the wall clock.
 *
 * - `now`; `-15m`: that long ago
 * - `2026-08-01`: its start in the local time zone
 * - RFC 3339, `2026-08-01T10:00:00Z`, with its zone
 * - epoch seconds or milliseconds
 * - `2026-08-01#10:00:00:000`: as RocketMQ's tools print it (`UtilAll.YYYY_MM_DD_HH_MM_SS_SSS`), local time
 *
 * @throws RmqError INVALID_ARGUMENT
 */
export function parseTime(text: string, now: number): number {
  const timestamp = tryParseTime(text, now)
  if (timestamp !== undefined) return timestamp
  throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not a time`, {
    why: 'a time is now, -15m, 2026-08-01, 2026-08-01T10:00:00Z, 2026-08-01#10:00:00:000, or epoch seconds or milliseconds',
    hint: /^\d{4}-\d\d-\d\d[T ]/.test(text) ? 'add the zone: Z for UTC, or +02:00' : 'for example -15m',
  })
}

/** The same, `undefined` instead of an error. */
export function tryParseTime(text: string, now: number): number | undefined {
  if (text === 'now') return now
  if (/^\d{1,15}$/.test(text)) return epoch(Number(text))
  if (text.startsWith('-')) {
    const ago = tryParseDuration(text.slice(1))
    return ago === undefined ? undefined : now - ago
  }
  return parseDate(text) ?? parseRfc3339(text) ?? parseRocketMq(text)
}

function epoch(value: number): number {
  return value < EPOCH_MILLISECONDS_FROM ? value * 1000 : value
}

function parseDate(text: string): number | undefined {
  const [, year, month, day] = DATE.exec(text) ?? []
  return localTime([year, month, day].map(Number), [])
}

function parseRfc3339(text: string): number | undefined {
  const [, date, clock, fraction = '', zone] = RFC_3339.exec(text) ?? []
  if (date === undefined || clock === undefined || zone === undefined) return undefined
  if (localTime(date.split('-').map(Number), []) === undefined) return undefined
  const seconds = clock.length === 5 ? `${clock}:00` : clock
  const timestamp = Date.parse(
    `${date}T${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone.toUpperCase()}`,
  )
  return Number.isNaN(timestamp) ? undefined : timestamp
}

function parseRocketMq(text: string): number | undefined {
  const [, ...fields] = ROCKETMQ.exec(text) ?? []
  const numbers = fields.map(Number)
  return localTime(numbers.slice(0, 3), numbers.slice(3))
}

/** `undefined` for days and hours that do not exist, which a Date would carry over into the next ones. */
function localTime(date: readonly number[], clock: readonly number[]): number | undefined {
  const [year, month, day] = date
  if (year === undefined || month === undefined || day === undefined || Number.isNaN(year)) return undefined
  const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = clock
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined
  const time = new Date(year, month - 1, day, hours, minutes, seconds, milliseconds)
  const exists = time.getFullYear() === year && time.getMonth() === month - 1 && time.getDate() === day
  return exists ? time.getTime() : undefined
}
