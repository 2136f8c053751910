import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { writeManifest } from './manifest.ts'
import { emitTypes } from './types.ts'

// Usage: tsx scripts/build.ts
// Builds dist/ (program, library, type declarations) and oclif.manifest.json.

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const draft = join(root, `dist.${process.pid}`)

try {
  await bundle(root, draft)
  // Exchanged at the end: a build that fails leaves the last one in place.
  rmSync(dist, { recursive: true, force: true })
  renameSync(draft, dist)
  await writeManifest(root)
  emitTypes(root)
} finally {
  rmSync(draft, { recursive: true, force: true })
}
