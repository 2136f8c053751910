import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'esbuild'

/**
 * Commands import everything from core/index.ts. A bundler that splits by file would therefore load all of core
 * for each of them. This plugin reads where the index takes each name from, and lets the importing file take it
 * from there.
 */
export function directImports(src: string): Plugin {
  const index = join(src, 'core', 'index.ts')
  return {
    name: 'direct-imports',
    setup(build) {
      const origins = originsOf(index)
      build.onLoad(
        { filter: /[\\/]src[\\/](commands|ui)[\\/].*\.ts$|[\\/]src[\\/]main\.ts$/ },
        ({ path }) => {
          const toIndex = importsOf(relativeImport(dirname(path), index))
          const contents = readFileSync(path, 'utf8').replace(toIndex, (_, typeOnly, names: string) => {
            if (typeOnly) return ''
            return valueNames(names)
              .map((name) => importLine(name, origins, dirname(path)))
              .join('')
          })
          return { contents, loader: 'ts' }
        },
      )
    },
  }
}

/** The file behind each name that the index gives out. */
function originsOf(index: string): ReadonlyMap<string, string> {
  const origins = new Map<string, string>()
  const source = readFileSync(index, 'utf8')
  for (const [, names = '', from = ''] of source.matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)) {
    for (const name of valueNames(names)) origins.set(name, join(dirname(index), from))
  }
  return origins
}

function importsOf(path: string): RegExp {
  return new RegExp(`^import (type )?\\{([^}]*)\\} from '${path.replaceAll('.', '\\.')}';?\\n`, 'gm')
}

function valueNames(names: string): readonly string[] {
  return names
    .replace(/\/\/.*|\/\*[\s\S]*?\*\//g, '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
}

function importLine(name: string, origins: ReadonlyMap<string, string>, from: string): string {
  const origin = origins.get(name)
  if (origin === undefined) throw new Error(`src/core/index.ts exports no ${name}, imported in ${from}`)
  return `import { ${name} } from '${relativeImport(from, origin)}'\n`
}

function relativeImport(from: string, file: string): string {
  const path = relative(from, file).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}
