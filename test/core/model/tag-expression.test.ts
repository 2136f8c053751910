import { describe, expect, it } from 'vitest'
import { matchesTags, parseTagExpression } from '../../../src/core/model/tag-expression.ts'

const wanted = (expression: string) => {
  const tags = parseTagExpression(expression)
  return tags && [...tags]
}

describe('a tag expression', () => {
  it.each([
    ['*', null],
    ['', null],
    ['A', ['A']],
    ['A||B', ['A', 'B']],
    ['A || B', ['A', 'B']],
    [' A ||  || B || A ||', ['A', 'B']],
    ['two words || B', ['two words', 'B']],
    ['A || *', ['A', '*']],
    ['* || *', ['*']],
    ['   ', []],
  ])('%j wants %j', (expression, tags) => expect(wanted(expression)).toEqual(tags))

  it.each(['||', ' || ', '|| ||', 'A|B', 'A ||| B'])('%j is malformed', (expression) => {
    expect(() => parseTagExpression(expression)).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining("'A || B'") }),
    )
  })

  it('matches the exact tag', () => {
    const tags = parseTagExpression('Aa || C')
    expect(['Aa', 'BB', 'aa', 'Aa ', null].map((tag) => matchesTags(tags, tag))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    expect([null, 'x'].map((tag) => matchesTags(null, tag))).toEqual([true, true])
    expect([null, '', ' ', 'x'].map((tag) => matchesTags(parseTagExpression('  '), tag))).not.toContain(true)
  })
})
