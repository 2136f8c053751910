import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generateSql92Parser, SQL92_PARSER } from '../../scripts/sql92-parser.ts'

it('the parser that is checked in is made from the grammar beside it: npm run grammar', () => {
  const root = join(import.meta.dirname, '..', '..')
  expect(readFileSync(join(root, SQL92_PARSER), 'utf8')).toBe(generateSql92Parser(root))
})
