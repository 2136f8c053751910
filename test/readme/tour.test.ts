import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ROOT } from '../architecture/sources.ts'
import { README, type Step, tourOf } from './readme.ts'

const COLUMNS = 110
/** A step that never ends must not keep the tests from ending. */
const TOUR_MS_MAX = 150_000

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rmq-tour-'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'rmq'), `#!/bin/sh\nexec "${process.execPath}" "${ROOT}bin/run.js" "$@"\n`)
  chmodSync(join(bin, 'rmq'), 0o755)
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('every line of the tour does what the README shows, at a terminal', {
  timeout: TOUR_MS_MAX + 10_000,
}, () => {
  const steps = tourOf(README)
  expect(steps.length).toBeGreaterThan(40)
  const printed = runAtTerminal(steps)
  for (const [i, { command, output }] of steps.entries()) {
    expect({ command, output: mask(printed[i] ?? '') }).toEqual({ command, output: mask(output.join('\n')) })
  }
})

/** Runs all commands in one shell at a pseudo-terminal and answers what each printed. */
function runAtTerminal(steps: readonly Step[]): readonly string[] {
  const mark = (i: number) => `@@step ${i}@@`
  const lines = steps.flatMap(({ command }, i) => [`echo '${mark(i)}'`, command])
  writeFileSync(join(folder, 'tour.sh'), [`stty cols ${COLUMNS} -onlcr`, ...lines, ''].join('\n'))
  const { PATH, HOME } = process.env
  const env = {
    PATH: `${join(folder, 'bin')}:${PATH}`,
    HOME,
    NO_COLOR: '1',
    TERM: 'xterm',
    SHELL: '/bin/bash',
  }
  const { stdout } = spawnSync('script', ['-qec', 'bash tour.sh', '/dev/null'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    input: '',
    timeout: TOUR_MS_MAX,
  })
  return steps.map((_, i) => {
    const from = stdout.indexOf(mark(i)) + mark(i).length
    const to = stdout.indexOf(mark(i + 1))
    return stdout.slice(from, to === -1 ? undefined : to)
  })
}

/**
 * What differs from run to run, and the padding that depends on it. The lines of one step are compared as a set:
 * queues do not wait for each other, and stderr does not wait for stdout.
 */
function mask(text: string): readonly string[] {
  return text
    .replaceAll('\r', '')
    .replaceAll(/\b[0-9A-F]{20,32}…?/g, 'MSGID')
    .replaceAll(/\b\d+@[\w.-]+/g, 'PID@HOST')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)?\s?(ms|s|m)\b( ago)?|\bnow\b/g, 'TIME')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '' && !SHELL_NOTICE.test(line))
    .sort()
}

/** What bash says when a background job was killed. */
const SHELL_NOTICE = /^tour\.sh: line \d+:.* Killed /
