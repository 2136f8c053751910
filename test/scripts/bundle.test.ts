import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RUN } from '../helpers/rmq.ts'

const DIST = join(dirname(RUN), '..', 'dist')

/** The text of a built file and of all that it imports at once; what is imported on demand does not count. */
function loadedBy(file: string): string {
  const seen = new Map<string, string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    const text = readFileSync(path, 'utf8')
    seen.set(path, text)
    for (const [, from] of text.matchAll(/^(?:import|export)\b[^'";]*?["'](\.[^"']+)["']/gm)) {
      if (from) visit(resolve(dirname(path), from))
    }
  }
  visit(join(DIST, file))
  return [...seen.values()].join('\n')
}

/** Packages that a start would pay for. */
function packagesOf(text: string): readonly string[] {
  const imports = [...text.matchAll(/(?:from|import|require\w*\() ?["']([^."'][^"']*)["']/g)].map(
    ([, name]) => name ?? '',
  )
  return imports.filter((name) => /^(better-sqlite3|zod|chalk|ink|react)\b/.test(name))
}

describe('what a start loads', () => {
  it('is no package for --version and --help', () => {
    expect(packagesOf(loadedBy('main.js'))).toEqual([])
  })

  it.each(['commands/send.js', 'commands/consume.js', 'commands/topics/list.js', 'commands/peek.js'])(
    'is no package for %s but what it imports on demand',
    (command) => {
      const text = loadedBy(command)
      expect(text).toContain('BaseCommand')
      expect(packagesOf(text).filter((name) => name !== 'better-sqlite3')).toEqual([])
    },
  )

  it('is no consumer and no handler for send', () => {
    expect(loadedBy('commands/consume.js')).toMatch(/class _?OrderlyConsumer\b|OrderlyConsumer = class/)
    expect(loadedBy('commands/send.js')).not.toMatch(/OrderlyConsumer|ExecHandler|PipeHandler/)
  })

  it('keeps one class of errors: what core throws is what the front knows', () => {
    const definitions = loadedBy('commands/send.js').match(/RmqError = class|class _?RmqError\b/g)
    expect(definitions).toHaveLength(1)
  })
})
