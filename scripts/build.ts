import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { writeManifest } from './manifest.ts'
import { emitTypes } from './types.ts'

// Usage: tsx scripts/build.ts [--out DIR] [--no-types]
// Builds dist/ and oclif.manifest.json: the bundle, the list of commands, the type declarations.

const root = join(import.meta.dirname, '..')
rmSync(join(root, 'dist'), { recursive: true, force: true })
await bundle(root)
await writeManifest(root)
if (!process.argv.includes('--no-types')) emitTypes(root)
