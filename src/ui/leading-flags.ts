import { globalFlags } from './global-flags.ts'

/**
 * Global flags may stand before the command (`rmq --db shop.db topics list`), where oclif does not look.
 * Returns them apart from the rest, so that they can be put behind the command.
 */
export function splitLeadingFlags(argv: readonly string[]): { leading: string[]; rest: string[] } {
  let end = 0
  while (end < argv.length) {
    const flag = globalFlag(argv[end] ?? '')
    if (flag === undefined) break
    end += flag.takesNextWord ? 2 : 1
  }
  return { leading: argv.slice(0, end), rest: argv.slice(end) }
}

function globalFlag(word: string): { readonly takesNextWord: boolean } | undefined {
  const [name = '', value] = word.split('=', 2)
  for (const [long, flag] of Object.entries(globalFlags)) {
    if (name !== `--${long}` && !('char' in flag && name === `-${flag.char}`)) continue
    return { takesNextWord: flag.type === 'option' && value === undefined }
  }
  return undefined
}
