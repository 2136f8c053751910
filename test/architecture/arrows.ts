import type { Import } from './imports.ts'

/**
 * The parts of the house and what each may import. Everything that is not listed is forbidden, so a new
 * folder has to be given its place here first. `ARCHITECTURE.md` says why the arrows point this way.
 */
interface Zone {
  readonly name: string
  readonly contains: (path: string) => boolean
  /** Other zones; a zone may always import itself. */
  readonly mayImport: readonly string[]
  /** Packages and `node:` modules, by exact name or, with a trailing `*`, by prefix. */
  readonly mayUse: readonly string[]
}

const within = (folder: string) => (path: string) => path.startsWith(`src/${folder}/`)
const files =
  (...names: readonly string[]) =>
  (path: string) =>
    names.includes(path)

const ZONES: readonly Zone[] = [
  {
    // Where the process starts: finds the command that was asked for and loads no other.
    name: 'main',
    contains: files('src/main.ts'),
    mayImport: ['ui'],
    mayUse: ['@oclif/core*', 'node:*'],
  },
  {
    name: 'commands',
    contains: within('commands'),
    mayImport: ['ui', 'core/index'],
    mayUse: ['@oclif/core*', 'node:*'],
  },
  {
    name: 'ui',
    contains: within('ui'),
    mayImport: ['core/index'],
    mayUse: ['@oclif/core*', 'chalk', 'node:*'],
  },
  {
    name: 'core/index',
    contains: files('src/core/index.ts'),
    mayImport: [
      'core/open-broker',
      'core/broker',
      'core/model',
      'core/client',
      'core/ops',
      'core/handlers',
      'core/sqlite',
      'core/runtime',
    ],
    mayUse: [],
  },
  {
    // The composition roots: with `index.ts` the only places that know a concrete broker.
    name: 'core/open-broker',
    contains: files('src/core/open-broker.ts', 'src/core/open-baseline.ts'),
    mayImport: ['core/broker', 'core/model', 'core/sqlite', 'core/runtime'],
    mayUse: ['node:*'],
  },
  {
    name: 'core/runtime',
    contains: files('src/core/system-runtime.ts'),
    mayImport: ['core/model'],
    mayUse: ['node:*'],
  },
  {
    // The kernel's table of processes, which brokers and handlers both ask.
    name: 'core/process-table',
    contains: files('src/core/process-table.ts'),
    mayImport: ['core/model'],
    mayUse: ['node:*'],
  },
  {
    name: 'core/client',
    contains: within('core/client'),
    mayImport: ['core/broker', 'core/model', 'core/runtime'],
    // For the host's name in a client id, and for MD5 in the ring of consistent hashing.
    mayUse: ['node:crypto', 'node:events', 'node:os'],
  },
  {
    name: 'core/ops',
    contains: within('core/ops'),
    mayImport: ['core/client', 'core/broker', 'core/model', 'core/runtime'],
    mayUse: [],
  },
  {
    name: 'core/handlers',
    contains: within('core/handlers'),
    mayImport: ['core/client', 'core/broker', 'core/model', 'core/runtime', 'core/process-table'],
    // `moduleUrl` is the user's own module, which only the handler thread imports.
    mayUse: ['node:*', 'moduleUrl'],
  },
  {
    name: 'core/sqlite',
    contains: within('core/sqlite'),
    mayImport: ['core/broker', 'core/model', 'core/process-table'],
    mayUse: ['better-sqlite3', 'node:*'],
  },
  { name: 'core/broker', contains: files('src/core/broker.ts'), mayImport: ['core/model'], mayUse: [] },
  {
    // The only part of core that zod belongs to; loaded where an object of a caller is checked.
    name: 'core/model/schemas',
    contains: (path) => /^src\/core\/model\/schemas(\/|\.ts$)/.test(path),
    mayImport: ['core/model'],
    mayUse: ['zod'],
  },
  {
    name: 'core/model',
    contains: within('core/model'),
    mayImport: ['core/model/schemas'],
    mayUse: ['node:buffer'],
  },
]

/** Every arrow that the house forbids, as `place: who -> whom`. */
export function forbiddenArrows(imports: readonly Import[]): readonly string[] {
  return imports.filter((each) => !isAllowed(each)).map((each) => `${each.place}: ${each.from} -> ${each.to}`)
}

/** The zone of a file; the first that contains it. */
export function zoneOf(path: string): string | undefined {
  return find(path)?.name
}

function find(path: string): Zone | undefined {
  const zone = ZONES.findLast((each) => each.name === 'core/model/schemas' && each.contains(path))
  return zone ?? ZONES.find((each) => each.contains(path))
}

function isAllowed(arrow: Import): boolean {
  const zone = find(arrow.from)
  if (zone === undefined) return false
  if (arrow.isExternal) return zone.mayUse.some((pattern) => matches(pattern, arrow.to))
  const target = zoneOf(arrow.to)
  if (target === undefined) return false
  // Who may know the values may check them.
  const asked = target === 'core/model/schemas' ? 'core/model' : target
  return target === zone.name || zone.mayImport.includes(target) || zone.mayImport.includes(asked)
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
