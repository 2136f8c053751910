import { describe, expect, it } from 'vitest'
import { checkAssertion, parseAssertion } from '../../../../src/core/ops/bench/assertion.ts'

const NAMES = ['rate', 'ratio', 'pipelined.ratio', 'p99']

describe('an assertion', () => {
  it.each([
    ['ratio>=0.25', 'ratio', '>=', 0.25],
    [' p99 < 10 ', 'p99', '<', 10],
    ['pipelined.ratio > 0', 'pipelined.ratio', '>', 0],
    ['rate<=100000', 'rate', '<=', 100_000],
  ])('%s is a name, an operator and a number', (text, name, operator, bound) => {
    expect(parseAssertion(text, NAMES)).toMatchObject({ name, operator, bound })
  })

  it.each(['ratio', 'ratio=0.3', 'ratio>=', '>=1', 'ratio>=0.3 p99<1', 'ratio>=-1', 'ratio>=1e3', ''])(
    '%j is refused',
    (text) => {
      expect(() => parseAssertion(text, NAMES)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
    },
  )

  it('names the figures that there are when it asks for another', () => {
    expect(() => parseAssertion('p50<1', NAMES)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', why: expect.stringContaining('pipelined.ratio') }),
    )
  })

  it.each([
    ['ratio>=0.25', 0.25, true],
    ['ratio>0.25', 0.25, false],
    ['ratio<=0.25', 0.25, true],
    ['ratio<0.25', 0.25, false],
    ['ratio>=0.25', 0.24, false],
  ])('%s of %d is %s', (text, value, passed) => {
    expect(checkAssertion(parseAssertion(text, NAMES), { ratio: value })).toEqual({
      assert: text,
      value,
      passed,
    })
  })

  it.each(['ratio>=0', 'ratio<=1'])('%s fails when the figure is not a number', (text) => {
    expect(checkAssertion(parseAssertion(text, NAMES), { ratio: Number.NaN }).passed).toBe(false)
    expect(checkAssertion(parseAssertion(text, NAMES), {}).passed).toBe(false)
  })
})
