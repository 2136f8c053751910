/**
 * oclif takes the value of `--key=-c1` for the flag `-c` and says that a value is missing. No argument of a program
 * can hold a NUL, so one in front of such a value hides its dash until it is parsed. Numbers (`-o=-10`) need none.
 */
const SHIELD = '\u0000'

export function shieldDashedValues(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((word, i) => {
    const isFlag = end === -1 || i < end
    return isFlag ? word.replace(/^(--[a-z][a-z0-9-]*=)(?=-[a-zA-Z-])/, `$1${SHIELD}`) : word
  })
}

/** The parsed flags, with the values as they were given. */
export function unshieldValues<T extends object>(flags: T): T {
  const entries = Object.entries(flags).map(([name, value]) => [name, unshield(value)])
  return Object.fromEntries(entries) as T
}

function unshield(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unshield)
  return typeof value === 'string' && value.startsWith(SHIELD) ? value.slice(SHIELD.length) : value
}
