const MINUTE_MS = 60_000

/** RFC 3339 in the local time zone, with its distance from UTC: `2026-08-01T12:30:15.250+05:45`. */
export function localTime(at: number): string {
  const offset = -new Date(at).getTimezoneOffset()
  const clock = new Date(at + offset * MINUTE_MS).toISOString().slice(0, -1)
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${clock}${offset < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(minutes)}`
}

function twoDigits(n: number): string {
  return String(n).padStart(2, '0')
}
