import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withReference } from './command-reference.ts'

// Usage: tsx scripts/reference.ts
// Brings the command reference of the README up to date with oclif.manifest.json, which a build writes.

const root = join(import.meta.dirname, '..')
const readme = join(root, 'README.md')
const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8'))
writeFileSync(readme, withReference(readFileSync(readme, 'utf8'), manifest))
