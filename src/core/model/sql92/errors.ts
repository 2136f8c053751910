import { RmqError } from '../errors.ts'

/** Columns of the text that are shown on each side of the place. */
const EXCERPT_COLUMNS = 32

/** What is wrong at `offset`, in UTF-16 units from the start, with the line and a caret under the place. */
export function malformed(text: string, offset: number, why: string, hint = EXAMPLES): RmqError {
  const { line, column, source } = place(text, offset)
  const where = line === 1 ? `column ${column}` : `line ${line}, column ${column}`
  return new RmqError('INVALID_ARGUMENT', `the SQL92 expression is malformed at ${where}`, {
    why: source.trim() === '' ? why : `${why}\n${excerpt(source, column)}`,
    hint,
    details: { line, column },
  })
}

/** It is too long or too deep; nothing in it is wrong by itself. */
export function tooLarge(what: string, why: string): RmqError {
  return new RmqError('INVALID_ARGUMENT', `the SQL92 expression is too ${what}`, {
    why,
    hint: "put many texts into one list: status IN ('paid', 'packed')",
  })
}

const EXAMPLES = "for example: price > 10 AND region IN ('eu', 'us') AND NOT (express = TRUE)"

/** Columns count characters, from 1. */
function place(text: string, offset: number) {
  const before = text.slice(0, offset).split(/\r\n|[\r\n]/)
  const start = before.at(-1) ?? ''
  const rest = text.slice(offset).split(/[\r\n]/, 1)[0] ?? ''
  return { line: before.length, column: [...start].length + 1, source: start + rest }
}

function excerpt(line: string, column: number): string {
  const characters = [...line].map((character) =>
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(character) ? ' ' : character,
  )
  const from = Math.max(0, column - 1 - EXCERPT_COLUMNS)
  const to = column - 1 + EXCERPT_COLUMNS
  const head = from > 0 ? '…' : ''
  const tail = to < characters.length ? '…' : ''
  return `${head}${characters.slice(from, to).join('')}${tail}\n${' '.repeat(head.length + column - 1 - from)}^`
}
