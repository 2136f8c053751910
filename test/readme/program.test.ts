import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ROOT } from '../architecture/sources.ts'
import { programsOf, README } from './readme.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rmq-readme-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'rmq'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const PROGRAMS = programsOf(README)

test('the README has programs', () => {
  expect(PROGRAMS.length).toBeGreaterThan(1)
})

test.each(PROGRAMS)('a program of the README prints what its last lines say', (program) => {
  const said = [...program.matchAll(/^\/\/ => (.*)$/gm)].map(([, line]) => line)
  writeFileSync(join(folder, 'program.mjs'), program)
  const printed = execFileSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' })
  expect(said.length).toBeGreaterThan(0)
  expect(printed.trimEnd().split('\n')).toEqual(said)
})
