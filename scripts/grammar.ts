import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSql92Parser, SQL92_PARSER } from './sql92-parser.ts'

// Usage: tsx scripts/grammar.ts
// Generates the parser of SQL92 filters, which is checked in: nothing needs peggy but a change of the grammar.

const root = join(import.meta.dirname, '..')
writeFileSync(join(root, SQL92_PARSER), generateSql92Parser(root))
