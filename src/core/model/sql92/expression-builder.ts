import { SQL92_DEPTH_MAX } from '../limits.ts'
import { malformed, tooLarge } from './errors.ts'
import {
  type Comparison,
  type ComparisonOperator,
  type Expression,
  isCondition,
  type Literal,
  type Property,
  type TextTest,
} from './expression.ts'
import { compareNumbers } from './values.ts'

/** Java's Long. */
const INTEGER_MAX = 2n ** 63n - 1n

type Wrap = (left: Expression) => Expression

/** `at` is where it stands in the text. */
interface Prefix {
  readonly prefix: '+' | '-' | 'NOT'
  readonly at: number
}

/**
 * What the parser makes of a text: it checks what the grammar cannot say, as RocketMQ does when it builds its
 * expressions, and bounds the depth. Offsets are in UTF-16 units; each is where the thing in question begins.
 */
export class ExpressionBuilder {
  readonly #text: string
  readonly #depths = new WeakMap<Expression, number>()
  readonly #offsets = new WeakMap<Expression, number>()
  readonly #conditions: Expression[] = []
  #parentheses = 0

  constructor(text: string) {
    this.#text = text
  }

  fail(offset: number, why: string, hint?: string): never {
    throw malformed(this.#text, offset, why, hint)
  }

  /** Counted before what is inside is read, so that the parser's stack is bounded too. */
  enter(): void {
    if (++this.#parentheses > SQL92_DEPTH_MAX) throw tooDeep()
  }

  leave(): void {
    this.#parentheses--
  }

  literal(value: Literal['value'], at: number): Expression {
    return this.#add({ kind: 'literal', value }, at)
  }

  property(name: string, at: number): Property {
    return this.#add({ kind: 'property', name }, at)
  }

  integer(digits: string, at: number): bigint {
    const value = BigInt(digits)
    if (value > INTEGER_MAX)
      this.fail(at, `whole numbers go up to ${INTEGER_MAX}`, 'write it with a point: 1e20')
    return value
  }

  decimal(text: string, at: number): number {
    const value = Number(text)
    if (!Number.isFinite(value)) this.fail(at, `numbers go up to ${Number.MAX_VALUE}`)
    return value
  }

  anyOf(first: Expression, rest: readonly Expression[], at: number): Expression {
    return this.#join('or', first, rest, at)
  }

  allOf(first: Expression, rest: readonly Expression[], at: number): Expression {
    return this.#join('and', first, rest, at)
  }

  chain(first: Expression, rest: readonly Wrap[]): Expression {
    return rest.reduce((left, wrap) => wrap(left), first)
  }

  prefixed(prefixes: readonly Prefix[], operand: Expression): Expression {
    return prefixes.reduceRight((inner, { prefix, at }) => this.#prefix(prefix, inner, at), operand)
  }

  compare(operator: ComparisonOperator, left: Expression, right: Expression, at: number): Expression {
    if (operator === '=' || operator === '<>') this.#checkEqual(left, right, at)
    else for (const operand of [left, right]) this.#checkNumber(operand)
    const comparison: Comparison = { kind: 'compare', operator, left, right }
    return this.#add(comparison, this.#offsetOf(left), [left, right])
  }

  isNull(operand: Expression, negated: boolean): Expression {
    return this.#add({ kind: 'is-null', operand, negated }, this.#offsetOf(operand), [operand])
  }

  between(operand: Expression, low: Expression, high: Expression, negated: boolean): Expression {
    for (const each of [operand, low, high]) this.#checkNumber(each)
    if (isNumber(low) && isNumber(high) && compareNumbers(low.value, high.value) > 0) {
      this.fail(this.#offsetOf(low), 'BETWEEN begins with the larger number', 'write the smaller one first')
    }
    const at = this.#offsetOf(operand)
    return this.#add({ kind: 'between', operand, low, high, negated }, at, [operand, low, high])
  }

  isIn(operand: Expression, values: readonly string[], negated: boolean): Expression {
    const at = this.#offsetOf(operand)
    if (operand.kind === 'property') {
      return this.#add({ kind: 'in', operand, values, negated }, at, [operand])
    }
    return this.fail(at, 'IN asks for a property, and this is none')
  }

  textTest(kind: TextTest['kind'], operand: Expression, text: string, negated: boolean): Expression {
    return this.#add({ kind, operand, text, negated }, this.#offsetOf(operand), [operand])
  }

  /** The whole text was read: checks what had to be conditions, which a slip further on would only hide. */
  finish(filter: Expression): Expression {
    for (const condition of [...this.#conditions, filter]) this.#checkCondition(condition)
    return filter
  }

  /**
   * RocketMQ takes a bare property for a condition that is never true, whatever it holds; hence `NOT a = 5`, which is
   * `(NOT a) = 5`, matches nothing there. Refused: nobody means it.
   */
  #checkCondition(expression: Expression): void {
    if (isCondition(expression)) return
    const at = this.#offsetOf(expression)
    if (expression.kind !== 'property') this.fail(at, 'this is a value, and a condition is needed here')
    const { name } = expression
    const hint = `write ${name} = TRUE or ${name} IS NOT NULL`
    this.fail(at, `${name} is a property, and a condition is needed here`, hint)
  }

  #join(kind: 'and' | 'or', first: Expression, rest: readonly Expression[], at: number): Expression {
    if (rest.length === 0) return first
    const operands = [first, ...rest]
    this.#conditions.push(...operands)
    return this.#add({ kind, operands }, at, operands)
  }

  #prefix(prefix: Prefix['prefix'], operand: Expression, at: number): Expression {
    if (prefix === '+') return operand
    if (prefix === '-') {
      if (isNumber(operand)) return this.literal(-operand.value, at)
      return this.#add({ kind: 'negate', operand }, at, [operand])
    }
    this.#conditions.push(operand)
    return this.#add({ kind: 'not', operand }, at, [operand])
  }

  #checkEqual(left: Expression, right: Expression, at: number): void {
    for (const operand of [left, right]) {
      if (operand.kind !== 'literal' || operand.value !== null) continue
      this.fail(this.#offsetOf(operand), 'nothing is equal to NULL', 'write IS NULL or IS NOT NULL')
    }
    const conditions = [left, right].filter(isCondition)
    const values = [left, right].filter(({ kind }) => kind === 'literal' || kind === 'negate')
    if (conditions.length > 0 && values.some((value) => !isCondition(value))) {
      this.fail(at, 'this compares a condition with a value', hintOf(left))
    }
  }

  #checkNumber(operand: Expression): void {
    const at = this.#offsetOf(operand)
    if (isCondition(operand)) {
      this.fail(at, 'this is a condition, and numbers are compared here', hintOf(operand))
    }
    if (operand.kind === 'literal' && typeof operand.value === 'string') {
      this.fail(
        at,
        'this is a text, and numbers are compared here',
        "texts are compared with = <> IN: kind = 'a'",
      )
    }
  }

  #offsetOf(expression: Expression): number {
    return this.#offsets.get(expression) ?? 0
  }

  #add<E extends Expression>(expression: E, at: number, operands: readonly Expression[] = []): E {
    let depth = 1
    for (const operand of operands) depth = Math.max(depth, 1 + (this.#depths.get(operand) ?? 0))
    if (depth > SQL92_DEPTH_MAX) throw tooDeep()
    this.#depths.set(expression, depth)
    this.#offsets.set(expression, at)
    return expression
  }
}

function isNumber(expression: Expression): expression is Literal & { readonly value: number | bigint } {
  if (expression.kind !== 'literal') return false
  return typeof expression.value === 'number' || typeof expression.value === 'bigint'
}

function hintOf(left: Expression): string | undefined {
  return left.kind === 'not' ? 'NOT binds tighter than = and >: write NOT (price = 5)' : undefined
}

function tooDeep() {
  return tooLarge('deep', `${SQL92_DEPTH_MAX} levels of parentheses and operators are the most`)
}
