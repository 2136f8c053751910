import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../architecture/sources.ts'

/**
 * What a user gets: the packed tarball in a folder of its own, beside the dependencies that it declares and
 * nothing else. (`.ci/run` installs it for real, which may take a compiler and minutes.)
 */
let folder: string
let contents: readonly string[]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rmq-package-'))
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }))
  contents = packed.files.map((file: { readonly path: string }) => file.path)
  const home = join(folder, 'node_modules', 'rmq')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '-C', home, '--strip-components=1'])
  // What a user's own TypeScript project has. Types of other packages must not be needed.
  for (const name of [...productionPackages(), '@types/node']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Top-level packages that an install without the development ones has. */
function productionPackages(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const entries = Object.entries(lock.packages as Record<string, { readonly dev?: boolean }>)
  return entries
    .filter(([path, entry]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && entry.dev !== true)
    .map(([path]) => path.slice('node_modules/'.length))
}

function rmq(args: readonly string[], input = '') {
  const run = join(folder, 'node_modules', 'rmq', 'bin', 'run.js')
  const env = { ...process.env, RMQ_DB: join(folder, 'data', 'shop.db') }
  return spawnSync(process.execPath, [run, ...args], { cwd: folder, env, input, encoding: 'utf8' })
}

describe('the tarball', () => {
  test('holds what runs, and its papers', () => {
    expect(contents).toEqual(
      expect.arrayContaining([
        'bin/run.js',
        'dist/main.js',
        'dist/core/index.js',
        'dist/types/core/index.d.ts',
        'oclif.manifest.json',
        'demo/demo.mjs',
        'demo/history.ndjson',
        'README.md',
        'ARCHITECTURE.md',
        'CHANGELOG.md',
        'LICENSE',
      ]),
    )
  })

  test('holds no sources, tests or other things of the workshop', () => {
    const strays = contents.filter((path) =>
      /^(src|test|scripts|\.ci|node_modules)\/|tsconfig|biome|vitest/.test(path),
    )
    expect(strays).toEqual([])
  })

  test('names commands in its manifest for which it has a chunk', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/rmq/oclif.manifest.json'), 'utf8'))
    const chunks = Object.keys(manifest.commands).map((id) => `dist/commands/${id.replaceAll(':', '/')}.js`)
    expect(chunks.length).toBeGreaterThan(10)
    expect(contents).toEqual(expect.arrayContaining(chunks))
  })
})

describe('from the tarball', () => {
  test('the command does its main job', () => {
    expect(rmq(['--version']).stdout).toContain('0.1.0')
    const sent = rmq(['send', 'orders', '--key-delimiter', ':'], 'a:1\nb:1\na:2\n')
    expect([sent.status, sent.stderr]).toEqual([0, expect.any(String)])
    const consumed = rmq(['consume', 'orders', '-g', 'mailer', '--orderly', '--exit-at-end', '-f', '%k%s\n'])
    expect(consumed.status).toBe(0)
    const lines = consumed.stdout.trimEnd().split('\n')
    expect(lines.toSorted()).toEqual(['a1', 'a2', 'b1'])
    expect(lines.indexOf('a1')).toBeLessThan(lines.indexOf('a2'))
    expect(rmq(['verify', 'orders']).status).toBe(0)
  })

  test('a program imports the library by name, and nothing behind it', () => {
    const program = join(folder, 'program.mjs')
    writeFileSync(
      program,
      "const names = Object.keys(await import('rmq')); console.log(JSON.stringify(names))",
    )
    const names = JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' }))
    expect(names).toEqual(
      expect.arrayContaining([
        'openBroker',
        'Producer',
        'OrderlyConsumer',
        'replayDeadLetters',
        'verify',
        'RmqError',
      ]),
    )
    writeFileSync(program, "await import('rmq/dist/main.js')")
    const refused = spawnSync(process.execPath, [program], { encoding: 'utf8' })
    expect(refused.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  test('the types of the library stand on their own', () => {
    const program = [
      "import { openBroker, OrderlyConsumer, Producer, type SendResult } from 'rmq'",
      "const broker = await openBroker({ db: 'shop.db' })",
      "const result: SendResult = await new Producer(broker).send({ topic: 'orders', key: 'a', body: 'x' })",
      "const consumer = new OrderlyConsumer(broker, { group: 'g', topics: ['orders'], count: 1 })",
      "const { consumed } = await consumer.start(async (messages) => messages.length === 1 ? 'success' : 'retry')",
      '// A delayed message has no offset yet.',
      'export const sum: number = (result.queueOffset ?? 0) + consumed',
    ]
    writeFileSync(join(folder, 'program.mts'), program.join('\n'))
    const options = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const checked = spawnSync(
      process.execPath,
      [tsc, ...options, '--lib', 'es2023,esnext.disposable', 'program.mts'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    )
    expect(checked.stdout).toBe('')
    expect(checked.status).toBe(0)
  })
})
