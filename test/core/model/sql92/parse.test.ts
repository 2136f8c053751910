import { describe, expect, it } from 'vitest'
import { RmqError } from '../../../../src/core/model/errors.ts'
import { parseSql92 } from '../../../../src/core/model/sql92/parse.ts'

const property = (name: string) => ({ kind: 'property', name })
const literal = (value: unknown) => ({ kind: 'literal', value })
const compare = (operator: string, left: object, right: object) => ({
  kind: 'compare',
  operator,
  left,
  right,
})
const is = (name: string, value: unknown) => compare('=', property(name), literal(value))

function errorOf(text: string): RmqError {
  try {
    parseSql92(text)
  } catch (error) {
    if (error instanceof RmqError) return error
    throw error
  }
  throw new Error(`${text.slice(0, 60)} was accepted`)
}

describe('precedence', () => {
  it('OR binds looser than AND', () => {
    expect(parseSql92('a = 1 OR b = 2 AND c = 3')).toEqual({
      kind: 'or',
      operands: [is('a', 1n), { kind: 'and', operands: [is('b', 2n), is('c', 3n)] }],
    })
    expect(parseSql92('(a = 1 OR b = 2) AND c = 3')).toEqual({
      kind: 'and',
      operands: [{ kind: 'or', operands: [is('a', 1n), is('b', 2n)] }, is('c', 3n)],
    })
  })

  it('= binds looser than >, and both are read from the left', () => {
    const larger = compare('>', property('b'), literal(5n))
    expect(parseSql92('a = b > 5')).toEqual(compare('=', property('a'), larger))
    expect(parseSql92('b > 5 IS NULL')).toEqual({ kind: 'is-null', operand: larger, negated: false })
    expect(parseSql92('a = b = c')).toEqual(
      compare('=', compare('=', property('a'), property('b')), property('c')),
    )
  })

  it('NOT binds tighter than = and >, so that parentheses are needed', () => {
    expect(parseSql92('NOT (a = 5) AND b = 1')).toEqual({
      kind: 'and',
      operands: [{ kind: 'not', operand: is('a', 5n) }, is('b', 1n)],
    })
    for (const text of ['NOT a = 5', 'NOT a > 5']) {
      expect(errorOf(text).hint).toContain('NOT (price = 5)')
    }
  })

  it('the AND of BETWEEN is its own', () => {
    expect(parseSql92('a BETWEEN 1 AND 5 AND b = 1')).toEqual({
      kind: 'and',
      operands: [
        { kind: 'between', operand: property('a'), low: literal(1n), high: literal(5n), negated: false },
        is('b', 1n),
      ],
    })
  })
})

describe('words', () => {
  it('keywords are read in any case, the case of properties is kept', () => {
    const expected = {
      kind: 'or',
      operands: [
        { kind: 'is-null', operand: property('Order_$1'), negated: true },
        { kind: 'in', operand: property('order_$1'), values: ['Not', 'IN'], negated: true },
      ],
    }
    expect(parseSql92("Order_$1 IS NOT NULL OR order_$1 NOT IN ('Not', 'IN')")).toEqual(expected)
    expect(parseSql92("Order_$1 is not null or order_$1 nOt iN('Not','IN')")).toEqual(expected)
  })

  it('a name may begin like a keyword', () => {
    const names = [
      'notify',
      'android',
      'orders',
      'inside',
      'island',
      'nullable',
      'trueish',
      'between_',
      '$',
      '_x',
    ]
    for (const name of names) expect(parseSql92(`${name} = 1`)).toEqual(is(name, 1n))
  })

  it.each(['not', 'AND', 'or', 'between', 'IN', 'is', 'contains', 'StartsWith', 'endswith'])(
    '%s is no name',
    (word) => {
      expect(errorOf(`x = 1 AND ${word} = 1`).code).toBe('INVALID_ARGUMENT')
      expect(errorOf(`${word} = 1`).code).toBe('INVALID_ARGUMENT')
    },
  )
})

describe('literals', () => {
  it.each([
    ["'plain'", 'plain'],
    ["''", ''],
    ["'it''s'", "it's"],
    ["''''", "'"],
    ["'-- no comment, /* nor this */'", '-- no comment, /* nor this */'],
    ["'é😀\n'", 'é😀\n'],
    ['0', 0n],
    ['42', 42n],
    ['42L', 42n],
    ['42l', 42n],
    ['9223372036854775807', 9223372036854775807n],
    ['-5', -5n],
    ['- 5', -5n],
    ['+5', 5n],
    ['5.5', 5.5],
    ['5.', 5],
    ['.5', 0.5],
    ['5E10', 5e10],
    ['5.5e-3', 0.0055],
    ['5.E+2', 500],
    ['-.5', -0.5],
    ['TRUE', true],
    ['false', false],
  ])('%s', (text, value) => {
    expect(parseSql92(`a = ${text}`)).toEqual(is('a', value))
  })

  it('white space and comments stand between words', () => {
    const text = "\t a -- the first\r\n=/* two */ 1 /**/ AND\fb='x' /* ** */ -- the end"
    expect(parseSql92(text)).toEqual({ kind: 'and', operands: [is('a', 1n), is('b', 'x')] })
    expect(parseSql92('a=1and b=2')).toEqual({ kind: 'and', operands: [is('a', 1n), is('b', 2n)] })
  })
})

/** Text, column of the place, and what the reason says. */
describe('a malformed filter names the place', () => {
  it.each([
    ['', 1, 'found the end'],
    ["a > 5 annd b = 'x'", 7, 'found "annd"'],
    ['a = 1 AND', 10, 'found the end'],
    ['(a = 1', 7, 'a closing parenthesis'],
    ['a = 1)', 6, 'found ")"'],
    ['a == 1', 4, 'found "="'],
    ['a != 1', 3, 'found "!"'],
    ['a = "x"', 5, 'found "\\""'],
    ["a LIKE 'x%'", 3, 'found "LIKE"'],
    ['a + 1 = 2', 3, 'found "+"'],
    ['007 = a', 2, 'found "07"'],
    ['a-b = 1', 2, 'found "-"'],
    ['größe = 1', 3, 'found "ö"'],
    ["a = 'x", 5, 'no closing quote'],
    ['a = 1 /* x', 7, 'no closing */'],
    ['a IN ()', 7, "expected 'text'"],
    ["a IN ('x',)", 11, "expected 'text'"],
    ['a IN (1)', 7, "expected 'text'"],
    ["a IN ('x', b)", 12, "expected 'text'"],
    ["5 IN ('x')", 1, 'IN asks for a property'],
    ['a CONTAINS b', 12, "expected 'text'"],
    ['a STARTSWITH 5', 14, "expected 'text'"],
    ["a > 'x'", 5, 'a text'],
    ["'x' < a", 1, 'a text'],
    ['a >= TRUE', 6, 'a condition'],
    ['a <= NULL', 6, 'a condition'],
    ['a > 3 > 5', 1, 'a condition'],
    ["a BETWEEN 'a' AND 'b'", 11, 'a text'],
    ['a BETWEEN NULL AND 5', 11, 'a condition'],
    ['a BETWEEN 10 AND 5', 11, 'the larger number'],
    ['a BETWEEN -1 AND -5.5', 11, 'the larger number'],
    ['a BETWEEN 1 OR 5', 13, 'expected AND'],
    ['a = NULL', 5, 'equal to NULL'],
    ['NULL <> a', 1, 'equal to NULL'],
    ['TRUE = 5', 6, 'a condition with a value'],
    ["(a = 1) = 'x'", 9, 'a condition with a value'],
    ['a', 1, 'a is a property'],
    ['a = 1 AND b', 11, 'b is a property'],
    ['5', 1, 'this is a value'],
    ["'x' OR a = 1", 1, 'this is a value'],
    ['a = 9223372036854775808', 5, 'up to 9223372036854775807'],
    ['a = 1e999', 5, 'up to 1.79'],
  ])('%s', (text, column, why) => {
    const error = errorOf(text)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', details: { line: 1, column } })
    expect(error.message).toContain(`column ${column}`)
    expect(error.why).toContain(why)
    expect(error.hint).toBeTruthy()
  })

  it('with the line and a caret under it', () => {
    const { message, why } = errorOf("city = 'Köln' AND\n  total >> 5 AND\n  b = 1")
    expect(message).toContain('line 2, column 10')
    expect(why?.split('\n').slice(1)).toEqual(['  total >> 5 AND', '         ^'])
  })

  it('and only what is near it, without control characters', () => {
    const { why } = errorOf(`a = '${'x'.repeat(500)}\u0007' AND b ! '\u001b[31m${'y'.repeat(500)}'`)
    const [, excerpt = '', caret = ''] = why?.split('\n') ?? []
    expect(excerpt.length).toBeLessThan(80)
    expect(excerpt[caret.indexOf('^')]).toBe('!')
    expect(excerpt).not.toMatch(/\p{Cc}/u)
  })

  it('and helps with what other languages have', () => {
    expect(errorOf("a LIKE 'x'").hint).toContain('CONTAINS')
    expect(errorOf('a != 1').hint).toContain('<>')
    expect(errorOf('a = 1 && b = 2').hint).toContain('AND')
    expect(errorOf('a = "x"').hint).toContain("'text'")
  })
})

describe('a filter beyond all measure is refused', () => {
  it.each([
    ['parentheses', `${'('.repeat(10_000)}a = 1${')'.repeat(10_000)}`],
    ['open parentheses', '('.repeat(60_000)],
    ['NOT', `${'NOT '.repeat(10_000)}TRUE`],
    ['signs', `${'- '.repeat(10_000)}a = 1`],
    ['IS NULL', `a${' IS NULL'.repeat(8_000)}`],
    ['equalities', `a${' = a'.repeat(10_000)}`],
    ['NOT in parentheses', `${'NOT ('.repeat(5_000)}TRUE${')'.repeat(5_000)}`],
    ['mixed levels', `${'(NOT NOT '.repeat(200)}TRUE${' IS NULL IS NULL)'.repeat(200)}`],
  ])('too deep: %s', (_, text) => {
    expect(errorOf(text)).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('too deep'),
    })
  })

  it('too long', () => {
    expect(errorOf(Array(10_000).fill('a = 1').join(' AND '))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('too long'),
      why: expect.stringContaining('99995'),
    })
  })

  it('but not one that is only wide, or 200 levels deep', () => {
    expect(parseSql92(Array(5_000).fill('a = 1').join(' AND '))).toMatchObject({ kind: 'and' })
    const list = Array.from({ length: 5_000 }, (_, i) => `'${i}'`).join(',')
    expect(parseSql92(`a IN (${list})`)).toMatchObject({ kind: 'in' })
    expect(parseSql92(`${'('.repeat(200)}a = 1${')'.repeat(200)}`)).toEqual(is('a', 1n))
    expect(parseSql92(`${'NOT '.repeat(200)}TRUE`)).toMatchObject({ kind: 'not' })
  })
})
