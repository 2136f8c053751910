import ts from 'typescript'
import { parse, place, type Sources, walk } from './sources.ts'

export const FILE_LINES_MAX = 400
export const FILE_LINES_MEDIAN_MAX = 80
export const FILE_LINES_P90_MAX = 250
export const FUNCTION_LINES_MAX = 70
/** The formatter keeps code within 110; it breaks neither comments nor texts. */
export const LINE_COLUMNS_MAX = 130

/** Written in pieces, so that this file does not hold what it looks for. */
const MARKERS = new RegExp(
  [
    ['TO', 'DO'],
    ['FIX', 'ME'],
    ['\\bXX', 'X\\b'],
    ['\\bas ', 'any(?=[)\\],;.}]|$)'],
    ['@ts-', '(ignore|nocheck|expect-error)'],
    ['eslint-', 'disable'],
    ['\\b(test|it|describe)\\.', '(skip|only|todo)\\b'],
    ['not ', 'implemented'],
  ]
    .map((pieces) => pieces.join(''))
    .join('|'),
)

/** String and regular expression literals: to cut them up would only hide them from a search. */
const UNBREAKABLE = /'[^']*'|"[^"]*"|`[^`]*`|^\s*\/[^/*].*\/[a-z]*$/g

export function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length
}

/** The value below which `share` of the numbers lie (nearest rank). */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

export function longFiles(sources: Sources): readonly string[] {
  return [...sources]
    .map(([path, text]) => ({ path, lines: lineCount(text) }))
    .filter((file) => file.lines > FILE_LINES_MAX)
    .map((file) => `${file.path}: ${file.lines} lines`)
}

export function longLines(sources: Sources): readonly string[] {
  return everyLine(sources, (line) => line.replaceAll(UNBREAKABLE, '').length > LINE_COLUMNS_MAX)
}

export function leftovers(sources: Sources): readonly string[] {
  return everyLine(sources, (line) => MARKERS.test(line))
}

export function longFunctions(sources: Sources): readonly string[] {
  const found: string[] = []
  for (const [path, text] of sources) {
    const file = parse(path, text)
    walk(file, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return
      const lines = lineCount(node.getText(file))
      if (lines > FUNCTION_LINES_MAX) found.push(`${place(file, node)}: ${lines} lines`)
    })
  }
  return found
}

/** Names of tests that occur twice in one file: of two with one name, a report does not say which failed. */
export function repeatedTestNames(sources: Sources): readonly string[] {
  const found: string[] = []
  for (const [path, text] of sources) {
    const seen = new Set<string>()
    const file = parse(path, text)
    walk(file, (node) => {
      const name = testName(node)
      if (name === undefined) return
      if (seen.has(name)) found.push(`${place(file, node)}: ${name}`)
      seen.add(name)
    })
  }
  return found
}

/** The full name, with those of the blocks around it. */
function testName(node: ts.Node): string | undefined {
  const own = titleOf(node, ['test', 'it'])
  if (own === undefined) return undefined
  const names = [own]
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    const title = titleOf(outer, ['describe'])
    if (title !== undefined) names.unshift(title)
  }
  return names.join(' > ')
}

function titleOf(node: ts.Node, callees: readonly string[]): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined
  const [title] = node.arguments
  if (!callees.includes(node.expression.text) || title === undefined) return undefined
  return ts.isStringLiteralLike(title) ? title.text : undefined
}

function everyLine(sources: Sources, isWrong: (line: string) => boolean): readonly string[] {
  return [...sources].flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => (isWrong(line) ? [`${path}:${index + 1}: ${line.trim().slice(0, 80)}`] : [])),
  )
}
