import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileSql92, type FilterProperties } from '../../../../src/core/model/sql92/compile.ts'
import type { Expression, Literal, Property } from '../../../../src/core/model/sql92/expression.ts'
import { parseSql92 } from '../../../../src/core/model/sql92/parse.ts'
import { printSql92 } from '../../../../src/core/model/sql92/print.ts'

const NAMES = ['a', 'b', 'Note', '_$9']
const TEXTS = [
  '',
  'x',
  "it's",
  "'",
  '5',
  '5.5',
  '-3',
  '1e3',
  'true',
  'FALSE',
  '9007199254740993',
  '-- x',
  '/*',
  'é😀',
]

const literal = (value: Literal['value']): Literal => ({ kind: 'literal', value })
const property = fc.constantFrom(...NAMES).map((name): Property => ({ kind: 'property', name }))
const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'grapheme', maxLength: 6 }))
const number = fc.oneof(
  fc.integer({ min: -9, max: 9 }).map(BigInt),
  fc.bigInt({ min: -(2n ** 63n - 1n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0.5, -2, 1e21, 1e-7, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
)
const bool = fc.boolean()
const numeric = fc.oneof(
  property,
  number.map(literal),
  property.map((operand): Expression => ({ kind: 'negate', operand })),
)

/** Whatever the parser could give: no more levels than `depth`. */
function condition(depth: number): fc.Arbitrary<Expression> {
  const order = fc.record({
    kind: fc.constant('compare' as const),
    operator: fc.constantFrom('<' as const, '<=' as const, '>' as const, '>=' as const),
    left: numeric,
    right: numeric,
  })
  const equal = fc.record({
    kind: fc.constant('compare' as const),
    operator: fc.constantFrom('=' as const, '<>' as const),
    left: fc.oneof(property, text.map(literal), number.map(literal)),
    right: fc.oneof(property, text.map(literal), number.map(literal)),
  })
  const range = fc.tuple(number, number).map((pair) => pair.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  const between = fc
    .tuple(numeric, range, bool)
    .map(([operand, [low = 0n, high = 0n], negated]): Expression => {
      return { kind: 'between', operand, low: literal(low), high: literal(high), negated }
    })
  const isIn = fc.record({
    kind: fc.constant('in' as const),
    operand: property,
    values: fc.array(text, { minLength: 1, maxLength: 4 }),
    negated: bool,
  })
  const textTest = fc.record({
    kind: fc.constantFrom('contains' as const, 'startswith' as const, 'endswith' as const),
    operand: property,
    text,
    negated: bool,
  })
  const isNull = fc.record({ kind: fc.constant('is-null' as const), operand: property, negated: bool })
  const constant = fc.constantFrom(true, false, null).map(literal)
  const leaf = fc.oneof(order, equal, between, isIn, textTest, isNull, constant)
  if (depth === 0) return leaf
  const inner = condition(depth - 1)
  // NULL is no operand of an equality.
  const operand = inner.filter((each) => each.kind !== 'literal')
  return fc.oneof(
    leaf,
    inner.map((each): Expression => ({ kind: 'not', operand: each })),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      operands: fc.array(inner, { minLength: 2, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant('is-null' as const), operand: inner, negated: bool }),
    fc.record({
      kind: fc.constant('compare' as const),
      operator: fc.constantFrom('=' as const, '<>' as const),
      left: fc.oneof(operand, property),
      right: operand,
    }),
  )
}

const properties: fc.Arbitrary<FilterProperties> = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.constantFrom(...TEXTS),
)

it('a filter that is printed and parsed again is the same and decides the same', () => {
  const decisions = new Set<boolean | null>()
  fc.assert(
    fc.property(condition(4), fc.array(properties, { minLength: 1, maxLength: 5 }), (filter, messages) => {
      const again = parseSql92(printSql92(filter))
      expect(again).toEqual(filter)
      const [before, after] = [compileSql92(filter), compileSql92(again)]
      for (const message of messages) {
        decisions.add(before(message))
        expect(after(message)).toBe(before(message))
      }
    }),
    { seed: 92, numRuns: 1_500 },
  )
  expect(decisions).toEqual(new Set([true, false, null]))
})

it.each([
  ["(a = 1)and(b='x')or not(c is null)", "a = 1 AND b = 'x' OR NOT (c IS NULL)"],
  ['(a = 1 OR b = 2) AND ((c = 3))', '(a = 1 OR b = 2) AND c = 3'],
  ['a = (b = c)', 'a = (b = c)'],
  ['(a = b) = c', 'a = b = c'],
  ['a = 5. AND b = 5L', 'a = 5.0 AND b = 5'],
  ["a contains 'it''s'", "a CONTAINS 'it''s'"],
  ['a between -1 and +1', 'a BETWEEN -1 AND 1'],
  ['- -a > 0', '- - a > 0'],
])('%s is printed as %s', (source, expected) => {
  expect(printSql92(parseSql92(source))).toBe(expected)
})
