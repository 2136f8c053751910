import { Chalk } from 'chalk'

/**
 * Whether a stream gets colours is decided by `terminal.ts`, for each stream by itself; chalk looks at stdout only
 * and knows no NO_COLOR. Hence a level that is fixed.
 */
const chalk = new Chalk({ level: 1 })

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Wraps text in a style, where styles are wanted. */
export function paint(text: string, style: Style | undefined, enabled: boolean): string {
  return enabled && style !== undefined ? chalk[style](text) : text
}
