import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { directImports } from './direct-imports.ts'
import { slimOclif } from './slim-oclif.ts'

/**
 * Bundles the program: one file a command and what they share in chunks, so that a start loads only what the
 * command needs. Not minified: it would not start faster, and stacks stay readable. better-sqlite3 is native,
 * so it stays a package.
 */
export async function bundle(root: string, outdir = join(root, 'dist')): Promise<void> {
  const src = join(root, 'src')
  const commands = readdirSync(join(src, 'commands'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(src, 'commands', file))
  await build({
    // The thread of handler modules is a program of its own: a worker is started with a file.
    entryPoints: [
      join(src, 'main.ts'),
      join(src, 'core', 'index.ts'),
      join(src, 'core', 'handlers', 'module-thread.ts'),
      ...commands,
    ],
    outbase: src,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['better-sqlite3'],
    plugins: [directImports(src), slimOclif],
    // oclif is CommonJS and asks for built-in modules by `require`, which an ES module has not.
    banner: {
      js: "import { createRequire as createRequire_ } from 'node:module'; const require = createRequire_(import.meta.url);",
    },
    logLevel: 'warning',
  })
}
