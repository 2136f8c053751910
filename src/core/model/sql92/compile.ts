import type { Between, Comparison, Expression, TextTest } from './expression.ts'
import { areEqual, compareNumbers, toNumber, type Value } from './values.ts'

/** Properties of a message by name, RocketMQ's own among them (`TAGS`, `KEYS`). */
export type FilterProperties = Readonly<Record<string, string | undefined>>

/** Whether a message is wanted. `null`, unknown, is no: something that it depends on is missing or of another type. */
export type FilterCondition = (properties: FilterProperties) => boolean | null

type Evaluate = (properties: FilterProperties) => Value

/**
 * Makes a function of a filter. The logic has three values: a comparison with a missing property is unknown, and so is
 * one whose text cannot be read as the number that is asked for; NOT of unknown is unknown. CONTAINS, STARTSWITH,
 * ENDSWITH and their negations are false where the property is missing or the text to look for is empty.
 *
 * In two corners RocketMQ's expressions say something else. Where a text is no number it gives the whole filter up, and
 * the message does not match; here the other side of an OR may still match it. And it refuses `3.5` and numbers beyond
 * 32 bits in an order with a whole number such as `price > 3`; here they are compared by value.
 */
export function compileSql92(expression: Expression): FilterCondition {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression
      return typeof value === 'boolean' ? () => value : unknown
    }
    case 'not': {
      const operand = compileSql92(expression.operand)
      return (properties) => not(operand(properties))
    }
    case 'and':
      return junction(expression.operands, false)
    case 'or':
      return junction(expression.operands, true)
    case 'compare':
      return comparison(expression)
    case 'is-null': {
      const operand = evaluator(expression.operand)
      const { negated } = expression
      return (properties) => (operand(properties) === null) !== negated
    }
    case 'between':
      return between(expression)
    case 'in': {
      const values = new Set(expression.values)
      const operand = evaluator(expression.operand)
      const { negated } = expression
      return (properties) => {
        const value = operand(properties)
        return typeof value === 'string' ? values.has(value) !== negated : null
      }
    }
    case 'contains':
    case 'startswith':
    case 'endswith':
      return textTest(expression)
    default:
      // The parser takes no value for a condition.
      return unknown
  }
}

const unknown = () => null

function not(value: boolean | null): boolean | null {
  return value === null ? null : !value
}

/** AND and OR: one operand that is `decisive` settles it, else one that is unknown leaves it unknown. */
function junction(operands: readonly Expression[], decisive: boolean): FilterCondition {
  const conditions = operands.map(compileSql92)
  return (properties) => {
    let result: boolean | null = !decisive
    for (const condition of conditions) {
      const value = condition(properties)
      if (value === decisive) return decisive
      if (value === null) result = null
    }
    return result
  }
}

function comparison({ operator, left, right }: Comparison): FilterCondition {
  const l = evaluator(left)
  const r = evaluator(right)
  switch (operator) {
    case '=':
      return (properties) => areEqual(l(properties), r(properties))
    case '<>':
      return (properties) => not(areEqual(l(properties), r(properties)))
    default: {
      const accepts = ORDERS[operator]
      return (properties) => {
        const order = orderOf(l(properties), r(properties))
        return order === null ? null : accepts(order)
      }
    }
  }
}

const ORDERS = {
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
} as const

function orderOf(left: Value, right: Value): number | null {
  const l = toNumber(left)
  const r = toNumber(right)
  return l === null || r === null ? null : compareNumbers(l, r)
}

/** As the two comparisons joined by AND, so that one that fails settles it though the other is unknown. */
function between({ operand, low, high, negated }: Between): FilterCondition {
  const both = compileSql92({
    kind: 'and',
    operands: [
      { kind: 'compare', operator: '>=', left: operand, right: low },
      { kind: 'compare', operator: '<=', left: operand, right: high },
    ],
  })
  return negated ? (properties) => not(both(properties)) : both
}

function textTest({ kind, operand, text, negated }: TextTest): FilterCondition {
  const evaluate = evaluator(operand)
  const test = TEXT_TESTS[kind]
  return (properties) => {
    const value = evaluate(properties)
    return typeof value === 'string' && text !== '' && test(value, text) !== negated
  }
}

const TEXT_TESTS = {
  contains: (value: string, text: string) => value.includes(text),
  startswith: (value: string, text: string) => value.startsWith(text),
  endswith: (value: string, text: string) => value.endsWith(text),
} as const

function evaluator(expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression
      return () => value
    }
    case 'property': {
      const { name } = expression
      return (properties) => {
        const value = properties[name]
        // What every object has, such as `constructor`, is no property of a message.
        return typeof value === 'string' ? value : null
      }
    }
    case 'negate':
      // RocketMQ negates numbers only, and a property is text.
      return unknown
    default:
      return compileSql92(expression)
  }
}
