/**
 * An SQL92 filter as RocketMQ reads it, after parsing. A condition is true, false or unknown; an operand has a value.
 * What is a condition can be an operand of `=` as well, so one type holds both.
 */
export type Expression =
  | Literal
  | Property
  | { readonly kind: 'negate'; readonly operand: Expression }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Expression[] }
  | Comparison
  | { readonly kind: 'is-null'; readonly operand: Expression; readonly negated: boolean }
  | Between
  | {
      readonly kind: 'in'
      readonly operand: Property
      readonly values: readonly string[]
      readonly negated: boolean
    }
  | TextTest

/** Whole numbers are bigints (Java's Long), those with a point or an exponent are numbers (Double). */
export interface Literal {
  readonly kind: 'literal'
  readonly value: string | bigint | number | boolean | null
}

/** A property of the message, by its exact name. Its value is text, or null when the message has none. */
export interface Property {
  readonly kind: 'property'
  readonly name: string
}

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>='

export interface Comparison {
  readonly kind: 'compare'
  readonly operator: ComparisonOperator
  readonly left: Expression
  readonly right: Expression
}

export interface Between {
  readonly kind: 'between'
  readonly operand: Expression
  readonly low: Expression
  readonly high: Expression
  readonly negated: boolean
}

export interface TextTest {
  readonly kind: 'contains' | 'startswith' | 'endswith'
  readonly operand: Expression
  readonly text: string
  readonly negated: boolean
}

/** Whether it is true, false or unknown, rather than a text or a number. NULL counts: as a condition it is unknown. */
export function isCondition(expression: Expression): boolean {
  switch (expression.kind) {
    case 'property':
    case 'negate':
      return false
    case 'literal':
      return expression.value === null || typeof expression.value === 'boolean'
    default:
      return true
  }
}
