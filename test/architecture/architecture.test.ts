import { describe, expect, test } from 'vitest'
import { forbiddenArrows, zoneOf } from './arrows.ts'
import { fileCycles, zoneCycles } from './cycles.ts'
import { importsOf } from './imports.ts'
import { ambientUses, strayStatements } from './purity.ts'
import { readSources } from './sources.ts'

const sources = readSources(['src'], ['.ts', '.tsx', '.generated.js'])
const imports = importsOf(sources)

describe('the house', () => {
  test('is there: the check looks at all of it', () => {
    const zones = new Set([...sources.keys()].map((path) => zoneOf(path)))
    expect([...zones].sort()).toEqual([
      'commands',
      'core/broker',
      'core/client',
      'core/handlers',
      'core/index',
      'core/model',
      'core/model/schemas',
      'core/open-broker',
      'core/ops',
      'core/process-table',
      'core/runtime',
      'core/sqlite',
      'main',
      'ui',
    ])
    expect(imports.filter((each) => !each.isExternal && !sources.has(each.to))).toEqual([])
  })

  test('has only allowed arrows', () => {
    expect(forbiddenArrows(imports)).toEqual([])
  })

  test('has no files that import each other', () => {
    expect(fileCycles(imports)).toEqual([])
  })

  test('has no zones that know each other, types included', () => {
    expect(zoneCycles(imports)).toEqual([])
  })

  test('gets its clocks, chance and timers passed in, and knows no terminal', () => {
    expect(ambientUses(sources)).toEqual([])
  })

  test('keeps its SQL in one folder', () => {
    expect(strayStatements(sources)).toEqual([])
  })
})
