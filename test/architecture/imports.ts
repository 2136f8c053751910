import { posix } from 'node:path'
import ts from 'typescript'
import { parse, place, type Sources, walk } from './sources.ts'

/** One import of one file, however it is written: static, re-export, `import()`, or `import('…')` in a type. */
export interface Import {
  readonly from: string
  /** A path of the repository for a relative specifier, else the specifier itself. */
  readonly to: string
  readonly isExternal: boolean
  /** It is gone at run time. */
  readonly isTypeOnly: boolean
  readonly place: string
}

export function importsOf(sources: Sources): readonly Import[] {
  return [...sources].flatMap(([path, text]) => importsOfFile(path, text))
}

function importsOfFile(path: string, text: string): readonly Import[] {
  const file = parse(path, text)
  const imports: Import[] = []
  walk(file, (node) => {
    const found = specifierOf(node)
    if (found === undefined) return
    const isExternal = !found.specifier.startsWith('.')
    imports.push({
      from: path,
      to: isExternal ? found.specifier : resolve(path, found.specifier),
      isExternal,
      isTypeOnly: found.isTypeOnly,
      place: place(file, node),
    })
  })
  return imports
}

/** A specifier of `import()` that is computed is reported as the text itself: no rule allows it. */
function specifierOf(node: ts.Node): { specifier: string; isTypeOnly: boolean } | undefined {
  if (ts.isImportDeclaration(node)) {
    const isTypeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    return { specifier: textOf(node.moduleSpecifier), isTypeOnly }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    return { specifier: textOf(node.moduleSpecifier), isTypeOnly: node.isTypeOnly }
  }
  if (ts.isImportTypeNode(node)) return { specifier: textOf(node.argument), isTypeOnly: true }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments
    return { specifier: argument === undefined ? '' : textOf(argument), isTypeOnly: false }
  }
  return undefined
}

function textOf(node: ts.Node): string {
  if (ts.isLiteralTypeNode(node)) return textOf(node.literal)
  return ts.isStringLiteralLike(node) ? node.text : node.getText()
}

function resolve(from: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(from), specifier))
}
