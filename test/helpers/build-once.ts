import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../../scripts/bundle.ts'
import { writeManifest } from '../../scripts/manifest.ts'

const PROJECT = join(import.meta.dirname, '..', '..')
const BUILDS = join(PROJECT, '.tmp', 'cli')
const BUILDS_KEPT = 4

/**
 * Builds the program from the sources as they are, unless that was done before, and returns its folder. It lies
 * inside the project, so that its packages are found, and it is named by its content: test runs side by side
 * share it, and none of them changes `dist`.
 */
export async function buildOnce(): Promise<string> {
  const root = join(BUILDS, hashOfSources())
  if (existsSync(root)) return root
  const draft = `${root}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  cpSync(join(PROJECT, 'package.json'), join(draft, 'package.json'))
  cpSync(join(PROJECT, 'bin'), join(draft, 'bin'), { recursive: true })
  await bundle(PROJECT, join(draft, 'dist'))
  await writeManifest(draft)
  publish(draft, root)
  removeOldBuilds()
  return root
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const part of ['src', 'scripts', 'bin']) {
    const files = readdirSync(join(PROJECT, part), { recursive: true, withFileTypes: true })
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
    for (const path of paths.sort()) hash.update(path).update('\0').update(readFileSync(path)).update('\0')
  }
  hash.update(readFileSync(join(PROJECT, 'package.json')))
  return hash.digest('hex').slice(0, 16)
}

/** Another run may have built the same in the meantime; then that one stays. */
function publish(draft: string, root: string): void {
  try {
    renameSync(draft, root)
  } catch (error) {
    if (!existsSync(root)) throw error
    rmSync(draft, { recursive: true, force: true })
  }
}

function removeOldBuilds(): void {
  const builds = readdirSync(BUILDS)
    .map((name) => join(BUILDS, name))
    .map((path) => ({ path, modified: statSync(path).mtimeMs }))
    .sort((a, b) => b.modified - a.modified)
  for (const { path } of builds.slice(BUILDS_KEPT)) rmSync(path, { recursive: true, force: true })
}
