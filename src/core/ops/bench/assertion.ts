import { RmqError } from '../../model/errors.ts'

/** The figures of a run by name, such as `ratio` or `pipelined.rate`. */
export type Metrics = Readonly<Record<string, number>>

const OPERATORS = {
  '>=': (a: number, b: number) => a >= b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '<': (a: number, b: number) => a < b,
} as const
type Operator = keyof typeof OPERATORS

/** What a run must reach: `name op number`. */
export interface Assertion {
  readonly text: string
  readonly name: string
  readonly operator: Operator
  readonly bound: number
}

export interface CheckedAssertion {
  readonly assert: string
  readonly value: number
  readonly passed: boolean
}

const GRAMMAR = /^\s*([a-z][a-z0-9.]*)\s*(>=|<=|>|<)\s*(\d+(?:\.\d+)?)\s*$/i

/** Reads an assertion before the run, so that a typing error does not cost one. INVALID_ARGUMENT. */
export function parseAssertion(text: string, names: readonly string[]): Assertion {
  const [, name, operator, bound] = GRAMMAR.exec(text) ?? []
  if (name === undefined || operator === undefined || bound === undefined) {
    throw new RmqError('INVALID_ARGUMENT', `${JSON.stringify(text)} is not an assertion`, {
      why: 'an assertion is a name, one of >= <= > <, and a number',
      hint: `for example "${names.includes('ratio') ? 'ratio' : names[0]}>=0.25"`,
    })
  }
  if (!names.includes(name)) {
    throw new RmqError('INVALID_ARGUMENT', `this benchmark has no figure ${name}`, {
      why: `it has: ${names.join(', ')}`,
    })
  }
  return { text, name, operator: operator as Operator, bound: Number(bound) }
}

/** A figure that is missing or not a number passes nothing. */
export function checkAssertion(assertion: Assertion, metrics: Metrics): CheckedAssertion {
  const value = metrics[assertion.name] ?? Number.NaN
  return { assert: assertion.text, value, passed: OPERATORS[assertion.operator](value, assertion.bound) }
}
