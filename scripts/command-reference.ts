/** Writes the command reference of the README from the manifest: one definition of a flag serves both. */

export interface ManifestFlag {
  readonly name: string
  readonly char?: string
  readonly type: 'boolean' | 'option'
  readonly summary?: string
  readonly description?: string
  readonly helpValue?: string | readonly string[]
  readonly helpGroup?: string
  readonly options?: readonly string[]
  readonly default?: unknown
  readonly env?: string
  readonly allowNo?: boolean
  readonly required?: boolean
  readonly multiple?: boolean
  readonly hidden?: boolean
}

export interface ManifestArg {
  readonly name: string
  readonly required?: boolean
  readonly hidden?: boolean
}

export interface ManifestCommand {
  readonly id: string
  readonly summary?: string
  readonly description?: string
  readonly hidden?: boolean
  readonly strict?: boolean
  readonly args: Readonly<Record<string, ManifestArg>>
  readonly flags: Readonly<Record<string, ManifestFlag>>
}

export interface Manifest {
  readonly commands: Readonly<Record<string, ManifestCommand>>
}

const START = '<!-- command reference: written by `npm run reference` -->'
const END = '<!-- end of the command reference -->'
const GLOBAL = 'GLOBAL'
const FLAG_COLUMN = 34
const LINE_COLUMNS = 118

/** The README with its reference replaced by the one of this manifest. */
export function withReference(readme: string, manifest: Manifest): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)]
  if (start === -1 || end < start) throw new Error('the README has lost the marks of its command reference')
  return `${readme.slice(0, start + START.length)}\n\n${reference(manifest)}\n${readme.slice(end)}`
}

function reference(manifest: Manifest): string {
  const commands = Object.values(manifest.commands)
    .filter((command) => command.hidden !== true)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const globals = new Map(
    commands.flatMap((command) => flagsOf(command, true)).map((flag) => [flag.name, flag]),
  )
  const everywhere = block('Every command takes', [...globals.values()].map(flagLine))
  return [everywhere, ...commands.map(commandSection)].join('\n')
}

function commandSection(command: ManifestCommand): string {
  const args = Object.values(command.args).filter((arg) => arg.hidden !== true)
  const usage = [
    'rmq',
    ...command.id.split(':'),
    ...args.map((arg) => argText(arg, command.strict === false)),
  ]
  const lines = flagsOf(command, false).map(flagLine)
  return block(`**\`${usage.join(' ')}\`** ${plain(command.summary ?? command.description ?? '')}`, lines)
}

function argText(arg: ManifestArg, isRepeated: boolean): string {
  const name = arg.name.toUpperCase().replaceAll('-', '_') + (isRepeated ? '…' : '')
  return arg.required === true ? name : `[${name}]`
}

function block(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? `${title}\n` : `${title}\n\n\`\`\`\n${lines.join('\n')}\n\`\`\`\n`
}

/** Required ones first, then by name. */
function flagsOf(command: ManifestCommand, isGlobal: boolean): readonly ManifestFlag[] {
  const rank = (flag: ManifestFlag) => `${flag.required === true ? 0 : 1}${flag.name}`
  return Object.values(command.flags)
    .filter((flag) => flag.hidden !== true && (flag.helpGroup === GLOBAL) === isGlobal)
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

function flagLine(flag: ManifestFlag): string {
  const letter = flag.char === undefined ? '    ' : `-${flag.char}, `
  const name = flag.allowNo === true ? `--[no-]${flag.name}` : `--${flag.name}`
  const head = `${letter}${name}${flag.type === 'boolean' ? '' : ` ${valueText(flag)}`}`
  const text = [plain(flag.summary ?? flag.description ?? ''), ...notes(flag)]
    .filter((part) => part !== '')
    .join(' ')
  const indent = ' '.repeat(FLAG_COLUMN)
  const lines = wrap(text, LINE_COLUMNS - FLAG_COLUMN)
  const first = head.length < FLAG_COLUMN ? head.padEnd(FLAG_COLUMN) + (lines[0] ?? '') : undefined
  const rest = first === undefined ? [head, ...lines.map((line) => indent + line)] : []
  const all = first === undefined ? rest : [first, ...lines.slice(1).map((line) => indent + line)]
  return all.map((line) => line.trimEnd()).join('\n')
}

function valueText(flag: ManifestFlag): string {
  if (flag.options !== undefined) return flag.options.join('|')
  return [flag.helpValue ?? flag.name.toUpperCase()].flat().join(' ')
}

function notes(flag: ManifestFlag): readonly string[] {
  const found: string[] = []
  if (flag.required === true) found.push('Required.')
  const text = flag.summary ?? flag.description ?? ''
  if (flag.multiple === true && !/repeatable|only once/i.test(text)) found.push('Repeatable.')
  const isTold = typeof flag.default === 'string' || typeof flag.default === 'number'
  if (isTold && !/default/i.test(text)) found.push(`[default: ${flag.default}]`)
  if (flag.env !== undefined) found.push(`[env: ${flag.env}]`)
  return found
}

function plain(text: string): string {
  return text.replaceAll('<%= config.bin %>', 'rmq').replaceAll(/\s+/g, ' ').trim()
}

function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
