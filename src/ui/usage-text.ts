/**
 * oclif's complaints about a command line, as one sentence each: it lists several under a heading, tells of two flags
 * that exclude each other from both sides, and invites to `--help`, which the hint does.
 */
export function usageText(message: string): string {
  const text = message
    .replace(ANSI, '')
    .replace(PARSING_FLAG, '$1: ')
    .replace(/\nSee more help with --help/g, '')
    .trimEnd()
  const [heading = '', ...lines] = text.split('\n')
  if (MISSING_ARGS.test(heading)) return missing(lines)
  if (!SEVERAL.test(heading)) return text
  return [...new Set(lines.map((line) => complaint(line.trim())))].join('; ')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: oclif paints parts of its messages.
const ANSI = /\u001b\[[\d;]*m/g
const PARSING_FLAG = /^Parsing (--[\w-]+) \n\t/
const SEVERAL = /^The following errors? occurred:$/
const MISSING_ARGS = /^Missing \d+ required args?:$/

/** The lines of a list of arguments, each with its description, up to a blank line. */
function missing(lines: readonly string[]): string {
  const end = lines.indexOf('')
  const list = end === -1 ? lines : lines.slice(0, end)
  const names = list.flatMap((line) => /^\S+/.exec(line)?.[0].toUpperCase() ?? [])
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} missing`
}

function complaint(line: string): string {
  const [, flag, needed] = /^All of the following must be provided when using (--\S+): (.+)$/.exec(line) ?? []
  if (flag) return `${flag} needs ${needed}`
  const [, one, other] = /^(--[\w-]+)=.* cannot also be provided when using (--[\w-]+)$/.exec(line) ?? []
  if (one && other) return `${[one, other].sort().join(' and ')} exclude each other`
  return line.replace(/^Missing required flag (.+)$/, '--$1 is missing')
}
