import ts from 'typescript'
import { parse, place, type Sources, walk } from './sources.ts'

/** Files of core that are the outside world: they hand clocks, chance and timers to the rest. */
const OUTSIDE_WORLD = /^src\/core\/(system-runtime\.ts$|sqlite\/host\/)/

const FORBIDDEN_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Date', ['now']],
  ['Math', ['random']],
  ['performance', ['now']],
  ['AbortSignal', ['timeout']],
  ['process', ['hrtime', 'exit', 'argv', 'stdin', 'stdout', 'stderr']],
  ['crypto', ['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues']],
])
const FORBIDDEN_NAMES = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'randomUUID',
  'randomBytes',
  'randomInt',
  'console',
]
const FORBIDDEN_MODULES = [
  'node:timers',
  'node:timers/promises',
  'node:perf_hooks',
  'node:readline',
  'node:tty',
]

/** Uses of clocks, chance, timers and the terminal in core, where they are passed in instead. */
export function ambientUses(sources: Sources): readonly string[] {
  const found: string[] = []
  for (const [path, text] of sources) {
    if (!path.startsWith('src/core/') || OUTSIDE_WORLD.test(path)) continue
    const file = parse(path, text)
    walk(file, (node) => {
      if (isAmbient(node)) found.push(`${place(file, node)}: ${node.getText(file).slice(0, 60)}`)
    })
  }
  return found
}

function isAmbient(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    return FORBIDDEN_MEMBERS.get(node.expression.text)?.includes(node.name.text) ?? false
  }
  if (ts.isNewExpression(node)) return isDate(node.expression) && (node.arguments?.length ?? 0) === 0
  if (ts.isCallExpression(node)) return isDate(node.expression)
  if (ts.isStringLiteral(node)) return FORBIDDEN_MODULES.includes(node.text)
  return ts.isIdentifier(node) && FORBIDDEN_NAMES.includes(node.text) && isReference(node)
}

function isDate(node: ts.Node): boolean {
  return ts.isIdentifier(node) && node.text === 'Date'
}

/** The name stands for the global or an import of it, not for a member of something else. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) {
    return parent.expression === node || parent.expression.getText() === 'globalThis'
  }
  return (
    !ts.isPropertyAssignment(parent) && !ts.isMethodDeclaration(parent) && !ts.isPropertySignature(parent)
  )
}

const SQL = new RegExp(
  [
    String.raw`^\s*select\s[\s\S]+\sfrom\s`,
    String.raw`^\s*insert\s+(or\s+\w+\s+)?into\s`,
    String.raw`^\s*update\s+\S+\s+set\s`,
    String.raw`^\s*delete\s+from\s`,
    String.raw`^\s*(create|drop|alter)\s+(temp\s+)?(table|index|trigger|view)\s`,
    String.raw`^\s*pragma\s+\w+`,
    String.raw`^\s*begin\s+(immediate|exclusive|deferred)`,
    String.raw`^\s*attach\s+database\s`,
  ].join('|'),
  'i',
)

/** SQL texts anywhere but in the folder that owns them. */
export function strayStatements(sources: Sources): readonly string[] {
  const found: string[] = []
  for (const [path, text] of sources) {
    if (!path.startsWith('src/') || path.startsWith('src/core/sqlite/')) continue
    const file = parse(path, text)
    walk(file, (node) => {
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
      if (!isText || !SQL.test(node.getText(file).slice(1))) return
      found.push(`${place(file, node)}: ${node.getText(file).slice(0, 60)}`)
    })
  }
  return found
}
