import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Config, Plugin } from '@oclif/core/config'
import { getHelpFlagAdditions, Help, normalizeArgv } from '@oclif/core/help'
import { shieldDashedValues } from './ui/dashed-values.ts'
import { splitLeadingFlags } from './ui/leading-flags.ts'
import { isReaderGone } from './ui/output.ts'
import { reportError } from './ui/report-error.ts'
import { unknownCommand } from './ui/unknown-command.ts'

export interface MainOptions {
  /** Folder of package.json. */
  readonly root: string
  readonly argv: readonly string[]
  /** Run the TypeScript sources instead of the build. */
  readonly sources?: boolean
}

/**
 * One run of rmq, from the arguments to the exit. oclif finds and parses; errors, exit codes and the end of the
 * process are handled here, once: oclif's own `execute` exits while output is still on its way to a pipe, answers
 * usage errors otherwise with `--json` than without, and prints its whole configuration into that JSON.
 */
export async function main(options: MainOptions): Promise<void> {
  const readers = watchReaders()
  let exitCode: number
  try {
    await runCommand(options)
    exitCode = Number(process.exitCode ?? 0)
  } catch (error) {
    exitCode = fail(error, options.argv)
  }
  await Promise.all([drained(process.stdout), drained(process.stderr)])
  // Exit, not only exitCode: an open stdin must not keep a finished command alive.
  process.exit(readers.stdoutGone() ? 0 : exitCode)
}

async function runCommand(options: MainOptions): Promise<void> {
  const config = await loadConfig(options)
  const { leading, rest } = splitLeadingFlags(options.argv)
  if (rest[0] === '--version') {
    process.stdout.write(`${config.userAgent}\n`)
    return
  }
  if (rest.length === 0 || helpIsAskedFor(rest, config)) return showHelp(rest, config)
  const [id = '', ...args] = normalizeArgv(config, rest)
  const command = config.findCommand(id)
  if (command) {
    await config.runCommand(id, shieldDashedValues([...leading, ...args]), command)
    return
  }
  const word = args.find((arg) => !arg.startsWith('-'))
  if (config.findTopic(id) && word === undefined) return showHelp([id], config)
  throw unknownCommand([id.replaceAll(':', ' '), word].filter(Boolean).join(' '), config)
}

function showHelp(argv: readonly string[], config: Config): Promise<void> {
  return new Help(config, { ...config.pjson.oclif.helpOptions }).showHelp([...argv])
}

/** Aliases (`lock list`) work, and need not be read. */
const HELP = { additionalHelpFlags: ['-h'], helpOptions: { hideAliasesFromRoot: true } }

async function loadConfig({ root, sources }: MainOptions): Promise<Config> {
  const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  pjson.oclif = { ...HELP, ...pjson.oclif }
  const options = { root, pjson, devPlugins: false, userPlugins: false } as const
  if (!sources) return Config.load(options)
  pjson.oclif.commands = { strategy: 'pattern', target: './src/commands', globPatterns: ['**/*.ts'] }
  const plugin = new Plugin({ root, pjson, name: pjson.name, isRoot: true, ignoreManifest: true })
  await plugin.load()
  return Config.load({ ...options, plugins: new Map([[plugin.name, plugin]]) })
}

function helpIsAskedFor(argv: readonly string[], config: Config): boolean {
  const end = argv.indexOf('--')
  const flags = getHelpFlagAdditions(config)
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => flags.includes(word))
}

function fail(error: unknown, argv: readonly string[]): number {
  return reportError(error, argv, { stdout: process.stdout, stderr: process.stderr, env: process.env })
}

/** A reader that goes away (`| head`) ends us quietly, whichever stream it read. */
function watchReaders(): { readonly stdoutGone: () => boolean } {
  let stdoutGone = false
  const onError = (error: Error) => {
    if (!isReaderGone(error)) throw error
  }
  process.stdout.on('error', (error) => {
    stdoutGone = isReaderGone(error)
    onError(error)
  })
  process.stderr.on('error', onError)
  return { stdoutGone: () => stdoutGone }
}

/** Resolves when everything written so far has left the process. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}
