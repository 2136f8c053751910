import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import peggy from 'peggy'

const folder = join('src', 'core', 'model', 'sql92')
export const SQL92_PARSER = join(folder, 'parser.generated.js')

/** The text of the parser that peggy makes of the grammar. */
export function generateSql92Parser(root: string): string {
  const grammar = readFileSync(join(root, folder, 'sql92.peggy'), 'utf8')
  return peggy.generate(grammar, { output: 'source', format: 'es', grammarSource: 'sql92.peggy' })
}
