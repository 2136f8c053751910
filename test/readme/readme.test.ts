import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withReference } from '../../scripts/command-reference.ts'
import { ROOT } from '../architecture/sources.ts'
import { README } from './readme.ts'

test('the command reference is the one of the manifest (else: npm run reference)', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'))
  expect(README).toBe(withReference(README, manifest))
})

test('the first screen says what rmq is and has the two commands', () => {
  const screen = README.split('\n').slice(0, 24).join('\n')
  expect(screen).toContain('npm ci && npm run demo')
  expect(screen).toContain('npm ci && npm test')
})

test('every npm script that the README names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = [...README.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name ?? '')
  expect(named.length).toBeGreaterThan(2)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})
