import { SQL92_LENGTH_MAX } from '../limits.ts'
import { malformed, tooLarge } from './errors.ts'
import type { Expression } from './expression.ts'
import { ExpressionBuilder } from './expression-builder.ts'
import { SyntaxError as Mismatch, parse } from './parser.generated.js'

/**
 * Reads an SQL92 filter (RocketMQ `SelectorParser` of 5.x): AND, OR, NOT; `= <>` with texts, numbers, TRUE and FALSE;
 * `< <= > >=` and BETWEEN with numbers; IN with texts; IS NULL; CONTAINS, STARTSWITH, ENDSWITH; each also with NOT
 * before it. Keywords in any case, properties by their exact name, `--` and slash-star comments.
 * `price > 10 AND region IN ('eu', 'us')`.
 *
 * @throws RmqError INVALID_ARGUMENT that names the place (`details.line`, `details.column`, from 1) and what was
 * expected there; also when it is longer than SQL92_LENGTH_MAX or deeper than SQL92_DEPTH_MAX.
 */
export function parseSql92(text: string): Expression {
  if (text.length > SQL92_LENGTH_MAX) {
    throw tooLarge('long', `it has ${text.length} characters, ${SQL92_LENGTH_MAX} are the most`)
  }
  const build = new ExpressionBuilder(text)
  try {
    return build.finish(parse(text, { build }))
  } catch (error) {
    if (error instanceof Mismatch) throw unexpected(text, error)
    throw error
  }
}

function unexpected(text: string, { expected, found, location }: Mismatch) {
  const tokens = new Set(expected.map(({ type, description }) => (type === 'end' ? 'the end' : description)))
  tokens.delete(undefined)
  const wanted = [...tokens].sort()
  const list = wanted.length > 1 ? `${wanted.slice(0, -1).join(', ')} or ${wanted.at(-1)}` : wanted.join('')
  const { offset } = location.start
  const word = found === null ? undefined : wordAt(text, offset)
  const why = `expected ${list}, found ${word === undefined ? 'the end' : JSON.stringify(word)}`
  return malformed(text, offset, why, word === undefined ? undefined : ADVICE[word.toUpperCase()])
}

/** For what other languages have. */
const ADVICE: Readonly<Record<string, string | undefined>> = {
  LIKE: "there is no LIKE: use CONTAINS 'x', STARTSWITH 'x' or ENDSWITH 'x'",
  '!': 'not equal is <>, and the negation is NOT',
  '&': 'write AND',
  '|': 'write OR',
  '"': "texts stand in single quotes: 'text'",
}

/** The whole word or sign, so that a mistyped keyword is shown as one. */
function wordAt(text: string, offset: number): string {
  const [word = ''] = /^(?:[\w$]{1,40}|.)/su.exec(text.slice(offset, offset + 80)) ?? []
  return word
}
