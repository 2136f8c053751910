import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** Text of source files by path relative to the repository, with forward slashes. */
export type Sources = ReadonlyMap<string, string>

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Every file of the given folders of the repository whose name ends in one of `extensions`. */
export function readSources(folders: readonly string[], extensions: readonly string[]): Sources {
  const sources = new Map<string, string>()
  for (const folder of folders) {
    const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      if (!entry.isFile() || !extensions.some((extension) => entry.name.endsWith(extension))) continue
      const path = join(entry.parentPath, entry.name)
      sources.set(relative(ROOT, path).replaceAll('\\', '/'), readFileSync(path, 'utf8'))
    }
  }
  return sources
}

export function parse(path: string, text: string): ts.SourceFile {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  return ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, kind)
}

/** Calls `visit` for every node below and including `node`. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  node.forEachChild((child) => walk(child, visit))
}

/** `path:line` of a node, as editors and terminals link it. */
export function place(file: ts.SourceFile, node: ts.Node): string {
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`
}
