const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

export type Style = keyof typeof CODES

/** Wraps text in an ANSI style. Twenty lines instead of chalk, which costs 28 ms at every start. */
export function paint(text: string, style: Style | undefined, enabled: boolean): string {
  if (!enabled || style === undefined || text === '') return text
  const [on, off] = CODES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}
