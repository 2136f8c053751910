import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compareTrees, parseTree } from '../../demo/judge.mjs'
import { ROOT } from '../architecture/sources.ts'

const DEMO = join(ROOT, 'demo')
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [join(DEMO, 'demo.mjs'), ...args], { encoding: 'utf8' })

test('the demo ends well and says so', { timeout: 90_000 }, () => {
  const { status, stdout } = run()
  expect(stdout).toContain('800 of 800 changes applied')
  expect(stdout).toContain('48 files at the end, 48 expected, 0 differ')
  expect(stdout).toContain('rmq verify: 0 violations')
  expect(stdout).toMatch(/queue \d: worker-\d went on at offset \d+ after \d+\.\d\d s, epoch \d+ -> \d+/)
  expect(status).toBe(0)
})

test('the demo fails when the end differs from what was expected', { timeout: 90_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'rmq-demo-test-'))
  const tree = join(folder, 'other.tree')
  writeFileSync(tree, `${readFileSync(join(DEMO, 'history.tree'), 'utf8')}0123456789abcdef\tnever/was.go\n`)
  const { status, stdout } = run(tree)
  rmSync(folder, { recursive: true })
  rmSync(/What it left is in (.*)/.exec(stdout)?.[1] ?? '', { recursive: true, force: true })
  expect(stdout).toContain('WRONG: never/was.go is missing')
  expect(status).toBe(1)
})

test('the expected tree is what the history ends in', () => {
  const tree = new Map<string, string>()
  const lines = readFileSync(join(DEMO, 'history.ndjson'), 'utf8').trimEnd().split('\n')
  for (const line of lines) {
    const { key, body } = JSON.parse(line)
    expect(tree.get(key) ?? null).toBe(body.before)
    if (body.after === null) tree.delete(key)
    else tree.set(key, body.after)
  }
  expect(compareTrees(parseTree(readFileSync(join(DEMO, 'history.tree'), 'utf8')), tree)).toEqual([])
})
