import { describe, expect, it } from 'vitest'
import { isCi, wantsAnimation, wantsColor } from '../../src/ui/terminal.ts'

describe('wantsColor', () => {
  it.each([
    ['a terminal', undefined, {}, true, true],
    ['a pipe', undefined, {}, false, false],
    ['auto on a terminal', 'auto', {}, true, true],
    ['never', 'never', { FORCE_COLOR: '1' }, true, false],
    ['always in a pipe', 'always', { NO_COLOR: '1' }, false, true],
    ['NO_COLOR', undefined, { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR says nothing', undefined, { NO_COLOR: '' }, true, true],
    ['FORCE_COLOR in a pipe', undefined, { FORCE_COLOR: '1' }, false, true],
    ['an empty FORCE_COLOR', undefined, { FORCE_COLOR: '' }, false, true],
    ['FORCE_COLOR=0', undefined, { FORCE_COLOR: '0' }, true, false],
    ['NO_COLOR beats FORCE_COLOR', undefined, { NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    ['a dumb terminal', undefined, { TERM: 'dumb' }, true, false],
  ] as const)('%s', (_, choice, env, isTerminal, wanted) => {
    expect(wantsColor(choice, env, isTerminal)).toBe(wanted)
  })
})

describe('wantsAnimation', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ CI: 'true' }, true, false],
  ])('with %j on a terminal: %s', (env, isTerminal, wanted) => {
    expect(wantsAnimation(env, isTerminal)).toBe(wanted)
  })
})

describe('isCi', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['0', false],
    ['false', false],
    ['1', true],
    ['true', true],
    ['woodpecker', true],
  ])('CI=%s is %s', (CI, expected) => {
    expect(isCi({ CI })).toBe(expected)
  })
})
