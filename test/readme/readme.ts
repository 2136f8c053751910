import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../architecture/sources.ts'

export const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** One command of the tour and what it prints. */
export interface Step {
  readonly command: string
  readonly output: readonly string[]
}

/** The steps between the marks of the tour: lines that begin with `$`, and the lines that follow them. */
export function tourOf(readme: string): readonly Step[] {
  const steps: { command: string; output: string[] }[] = []
  for (const [, block = ''] of between(readme, '<!-- tour -->', '<!-- end of the tour -->').matchAll(
    CONSOLE,
  )) {
    for (const line of block.trimEnd().split('\n')) {
      if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: [] })
      else steps.at(-1)?.output.push(line)
    }
  }
  return steps
}

/** The programs below their marks. */
export function programsOf(readme: string): readonly string[] {
  return [...readme.matchAll(/<!-- program -->\n```js\n([\s\S]*?)```/g)].map(([, program = '']) => program)
}

const CONSOLE = /```console\n([\s\S]*?)```/g

function between(text: string, start: string, end: string): string {
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`the README has lost its mark ${start}`)
  return text.slice(from + start.length, to)
}
