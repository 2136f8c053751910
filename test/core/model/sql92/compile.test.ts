import { describe, expect, it } from 'vitest'
import { compileSql92, type FilterProperties } from '../../../../src/core/model/sql92/compile.ts'
import { parseSql92 } from '../../../../src/core/model/sql92/parse.ts'

const evaluate = (text: string, properties: FilterProperties = {}) =>
  compileSql92(parseSql92(text))(properties)

describe('logic has three values', () => {
  it.each([
    ['TRUE', true],
    ['FALSE', false],
    ['NULL', null],
    ['NOT TRUE', false],
    ['NOT FALSE', true],
    ['NOT NULL', null],
    ['TRUE AND TRUE', true],
    ['TRUE AND FALSE', false],
    ['TRUE AND NULL', null],
    ['NULL AND TRUE', null],
    ['FALSE AND NULL', false],
    ['NULL AND FALSE', false],
    ['NULL AND NULL', null],
    ['FALSE OR FALSE', false],
    ['FALSE OR TRUE', true],
    ['TRUE OR NULL', true],
    ['NULL OR TRUE', true],
    ['FALSE OR NULL', null],
    ['NULL OR FALSE', null],
    ['NULL OR NULL', null],
    ['TRUE AND NULL AND FALSE', false],
    ['FALSE OR NULL OR TRUE', true],
    ['TRUE OR FALSE AND FALSE', true],
    ['(TRUE OR FALSE) AND FALSE', false],
    ['NOT TRUE OR TRUE', true],
    ['NOT (TRUE OR TRUE)', false],
  ])('%s', (text, expected) => expect(evaluate(text)).toBe(expected))
})

describe('a missing property', () => {
  it.each([
    ['a = 1', null],
    ["a = 'x'", null],
    ["a <> 'x'", null],
    ["'x' <> a", null],
    ['a = b', null],
    ['a <> b', null],
    ['a > 1', null],
    ['1 >= a', null],
    ['NOT (a > 1)', null],
    ['a BETWEEN 1 AND 5', null],
    ['a NOT BETWEEN 1 AND 5', null],
    ["a IN ('x')", null],
    ["a NOT IN ('x')", null],
    ['a IS NULL', true],
    ['a IS NOT NULL', false],
    ['(a > 1) IS NULL', true],
    ["a CONTAINS 'x'", false],
    ["a NOT CONTAINS 'x'", false],
    ["a STARTSWITH 'x'", false],
    ["a NOT STARTSWITH 'x'", false],
    ["a ENDSWITH 'x'", false],
    ["a NOT ENDSWITH 'x'", false],
    ["NOT (a CONTAINS 'x')", true],
    ['a > 1 OR TRUE', true],
    ['a > 1 AND FALSE', false],
  ])('%s', (text, expected) => expect(evaluate(text)).toBe(expected))

  it('is not what every object has', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      expect(evaluate(`${name} IS NULL`)).toBe(true)
    }
    expect(evaluate("__proto__ = 'x'", JSON.parse('{"__proto__":"x"}'))).toBe(true)
  })
})

describe('= and <> convert text to the type of the constant', () => {
  it.each([
    ["a = 'x'", 'x', true],
    ["a = 'x'", 'X', false],
    ["'it''s' = a", "it's", true],
    ["a <> 'x'", 'y', true],
    ["a <> 'x'", 'x', false],
    ["a = '5'", '5.0', false],
    ["a = ''", '', true],
    ['a = 5', '5', true],
    ['5 = a', '+5', true],
    ['a = 5', '6', false],
    ['a <> 5', '6', true],
    ['a = 5', 'five', null],
    ['a <> 5', 'five', null],
    ['a = 5', '', null],
    ['a = 5', ' 5', null],
    ['a = 5', '5.0', null],
    ['a = 5', '0x5', null],
    ['a = 5', '9223372036854775808', null],
    ['a = 5.0', '5', true],
    ['a = 5.5', '5.50', true],
    ['a = 5.5', '55e-1', true],
    ['a = .5', '.5', true],
    ['a = 9007199254740993', '9007199254740993', true],
    ['a = 9007199254740993', '9007199254740992', false],
    ['a = -5', '-5', true],
    ['a = TRUE', 'true', true],
    ['a = TRUE', 'True', true],
    ['a = TRUE', 'yes', false],
    ['a = FALSE', 'yes', true],
    ['a <> TRUE', 'false', true],
    ['a = (2 > 1)', 'TRUE', true],
  ])('%s with %j', (text, a, expected) => expect(evaluate(text, { a })).toBe(expected))

  it('two properties by their text', () => {
    expect(evaluate('a = b', { a: '5', b: '5' })).toBe(true)
    expect(evaluate('a = b', { a: '5', b: '5.0' })).toBe(false)
    expect(evaluate('a <> b', { a: '5', b: '5.0' })).toBe(true)
  })
})

describe('< <= > >= compare numbers', () => {
  it.each([
    ['a > 5', '6', true],
    ['a > 5', '5', false],
    ['a >= 5', '5', true],
    ['a < 5', '10', false],
    ['a <= 5', '-10', true],
    ['5 < a', '10', true],
    ['a > 5', '5.5', true],
    ['a > 5.5', '6', true],
    ['a > -1', '0', true],
    ['a > 1e3', '1001', true],
    ['a > 5', 'six', null],
    ['NOT (a > 5)', 'six', null],
    ['a > 5', '', null],
    ['a > 5', '0x10', null],
    ['a > 5', 'Infinity', null],
    ['a > 9007199254740992', '9007199254740993', true],
    ['a > 2147483647', '2147483648', true],
    ['-a < 0', '5', null],
  ])('%s with %j', (text, a, expected) => expect(evaluate(text, { a })).toBe(expected))

  it('of two properties too', () => {
    expect(evaluate('a > b', { a: '10', b: '9' })).toBe(true)
    expect(evaluate('a > b', { a: '1e1', b: '10.0' })).toBe(false)
    expect(evaluate('a > b', { a: 'x', b: '9' })).toBe(null)
  })

  it('what cannot be compared leaves the rest of the filter as it is', () => {
    expect(evaluate('a > 5 OR b = 1', { a: 'x', b: '1' })).toBe(true)
    expect(evaluate('a > 5 AND b = 1', { a: 'x', b: '1' })).toBe(null)
  })
})

describe('BETWEEN, IN, IS NULL and the tests of text', () => {
  it.each([
    ['a BETWEEN 1 AND 5', '1', true],
    ['a BETWEEN 1 AND 5', '5', true],
    ['a BETWEEN 1 AND 5', '5.01', false],
    ['a BETWEEN 5 AND 5', '5', true],
    ['a BETWEEN -5 AND -1', '-3', true],
    ['a BETWEEN 1 AND 5', 'x', null],
    ['a NOT BETWEEN 1 AND 5', '3', false],
    ['a NOT BETWEEN 1 AND 5', '6', true],
    ['a NOT BETWEEN 1 AND 5', 'x', null],
    ['a BETWEEN 1 AND missing', '0', false],
    ['a BETWEEN 1 AND missing', '2', null],
    ['a NOT BETWEEN 1 AND missing', '0', true],
    ["a IN ('x', 'y')", 'y', true],
    ["a IN ('x', 'y')", 'Y', false],
    ["a IN ('x', 'it''s')", "it's", true],
    ["a NOT IN ('x', 'y')", 'z', true],
    ["a NOT IN ('x', 'y')", 'x', false],
    ['a IS NULL', '', false],
    ['a IS NOT NULL', 'x', true],
    ["a CONTAINS 'ell'", 'hello', true],
    ["a CONTAINS 'ELL'", 'hello', false],
    ["a CONTAINS ''", 'hello', false],
    ["a NOT CONTAINS ''", 'hello', false],
    ["a NOT CONTAINS 'x'", 'hello', true],
    ["a STARTSWITH 'he'", 'hello', true],
    ["a STARTSWITH 'lo'", 'hello', false],
    ["a NOT STARTSWITH 'lo'", 'hello', true],
    ["a ENDSWITH 'lo'", 'hello', true],
    ["a ENDSWITH 'he'", 'hello', false],
    ["a NOT ENDSWITH 'lo'", 'hello', false],
    ["5 CONTAINS '5'", '', false],
  ])('%s with %j', (text, a, expected) => expect(evaluate(text, { a })).toBe(expected))
})
