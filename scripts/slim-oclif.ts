import type { Plugin } from 'esbuild'

/**
 * What oclif loads at every start and this program never uses: looking for commands without a manifest, plugin
 * patterns, rc files, TypeScript paths, spinners, its own debug log. Together about a tenth of a start.
 */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  tinyglobby: 'exports.glob = () => { throw new Error("oclif.manifest.json is missing") }',
  minimatch: 'exports.minimatch = () => false',
  lilconfig: 'exports.lilconfig = () => ({ search: async () => null })',
  debug: 'module.exports = () => Object.assign(() => {}, { enabled: false })',
  'cli-spinners': 'module.exports = { dots2: { frames: ["-"] }, line: { frames: ["-"] } }',
  'wsl-utils': 'exports.isWsl = false; exports.powerShellPath = async () => "powershell"',
  'ts-path':
    'const { join } = require("node:path"); exports.tsPath = async (root, path) => path && (path.startsWith(root) ? path : join(root, path))',
}

const FILTER = new RegExp(`^(?:${Object.keys(REPLACEMENTS).join('|')})$|[/.]ts-path$`)

export const slimOclif: Plugin = {
  name: 'slim-oclif',
  setup(build) {
    build.onResolve({ filter: FILTER }, ({ path, importer }) => {
      if (!/[\\/]@oclif[\\/]core[\\/]/.test(importer)) return undefined
      return { path: path.split('/').at(-1) ?? path, namespace: 'slim-oclif' }
    })
    build.onLoad({ filter: /.*/, namespace: 'slim-oclif' }, ({ path }) => ({
      contents: REPLACEMENTS[path] ?? '',
      loader: 'js',
      resolveDir: import.meta.dirname,
    }))
  },
}
