import type { Expression, Literal } from './expression.ts'

/** How tightly it binds, from the loosest to what needs no parentheses. */
const OR = 0
const AND = 1
const EQUALITY = 2
const COMPARISON = 3
const UNARY = 4
const PRIMARY = 5

/** The filter as text, with no more parentheses than needed: `parseSql92` of it evaluates the same. */
export function printSql92(expression: Expression): string {
  return print(expression, OR)
}

function print(expression: Expression, atLeast: number): string {
  const text = bare(expression)
  return bindingOf(expression) < atLeast ? `(${text})` : text
}

function bindingOf(expression: Expression): number {
  switch (expression.kind) {
    case 'or':
      return OR
    case 'and':
      return AND
    case 'is-null':
      return EQUALITY
    case 'compare':
      return expression.operator === '=' || expression.operator === '<>' ? EQUALITY : COMPARISON
    case 'not':
    case 'negate':
      return UNARY
    case 'literal':
      return bare(expression).startsWith('-') ? UNARY : PRIMARY
    case 'property':
      return PRIMARY
    default:
      return COMPARISON
  }
}

function bare(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return literal(expression.value)
    case 'property':
      return expression.name
    case 'negate':
      // The blank keeps two signs from being a comment.
      return `- ${print(expression.operand, UNARY)}`
    case 'not':
      return `NOT ${print(expression.operand, UNARY)}`
    case 'and':
      return expression.operands.map((operand) => print(operand, EQUALITY)).join(' AND ')
    case 'or':
      return expression.operands.map((operand) => print(operand, AND)).join(' OR ')
    case 'compare': {
      const { operator, left, right } = expression
      // Operators of one level are read from the left.
      const binding = bindingOf(expression)
      return `${print(left, binding)} ${operator} ${print(right, binding + 1)}`
    }
    case 'is-null':
      return `${print(expression.operand, EQUALITY)} IS ${not(expression)}NULL`
    case 'between': {
      const { operand, low, high } = expression
      const range = `${print(low, UNARY)} AND ${print(high, UNARY)}`
      return `${print(operand, COMPARISON)} ${not(expression)}BETWEEN ${range}`
    }
    case 'in':
      return `${expression.operand.name} ${not(expression)}IN (${expression.values.map(literal).join(', ')})`
    default: {
      const { kind, operand, text } = expression
      return `${print(operand, COMPARISON)} ${not(expression)}${kind.toUpperCase()} ${literal(text)}`
    }
  }
}

function not({ negated }: { readonly negated: boolean }): string {
  return negated ? 'NOT ' : ''
}

function literal(value: Literal['value']): string {
  switch (typeof value) {
    case 'string':
      return `'${value.replaceAll("'", "''")}'`
    case 'number': {
      const digits = String(value)
      // Without a point it would be a whole number.
      return /[.e]/.test(digits) ? digits : `${digits}.0`
    }
    case 'object':
      return 'NULL'
    default:
      return String(value).toUpperCase()
  }
}
