import { escapeControls } from './text.ts'

/** A moment in a table: relative for people, RFC 3339 in UTC for programs. */
export interface Instant {
  readonly at: number
}

/** What a table or a list of facts can hold. `null` is "there is none". */
export type Cell = string | number | boolean | Instant | null

export function instant(at: number | null): Cell {
  return at === null ? null : { at }
}

/** For a terminal: `3m ago`, nothing obeyed. */
export function cellForPeople(cell: Cell, now: number): string {
  if (cell === null || cell === '') return '-'
  if (typeof cell === 'object') return relativeTime(cell.at, now)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return typeof cell === 'string' ? escapeControls(cell) : String(cell)
}

/** For a pipe: whole, and one field whatever it holds. */
export function cellForPrograms(cell: Cell): string {
  if (cell === null) return '-'
  if (typeof cell === 'object') return new Date(cell.at).toISOString()
  return typeof cell === 'string' ? escapeControls(cell) : String(cell)
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `12s ago`, `in 3m`, `now`. */
export function relativeTime(at: number, now: number): string {
  const distance = Math.abs(at - now)
  if (distance < 1000) return 'now'
  const [unit, size] = STEPS.find(([, ms]) => distance >= ms) ?? STEPS[3]
  const text = `${Math.floor(distance / size)}${unit}`
  return at > now ? `in ${text}` : `${text} ago`
}
