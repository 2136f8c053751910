import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Type declarations of the library, for programs that import it. */
export function emitTypes(root: string): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
}
