/** What an operand evaluates to. Texts are properties or literals; null is a property that the message has not. */
export type Value = string | number | bigint | boolean | null

const INTEGER = /^[+-]?\d+$/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
/** Java's Long. */
const LONG_BITS = 64

/** -1, 0 or 1, exactly also between whole numbers beyond 2^53 and decimals. */
export function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A value as a number, for an order; null when it is none. */
export function toNumber(value: Value): number | bigint | null {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (typeof value !== 'string') return null
  const text = value.trim()
  const number = Number(text)
  if (Number.isSafeInteger(number) || !INTEGER.test(text)) return NUMBER.test(text) ? number : null
  return BigInt(text.replace('+', ''))
}

/**
 * Whether two values are equal, after text was converted to the type of the other one as Java's `valueOf` does; null,
 * unknown, when one is null or the text is not of that type.
 */
export function areEqual(a: Value, b: Value): boolean | null {
  if (a === null || b === null) return null
  if (typeof a === 'string') return typeof b === 'string' ? a === b : textEquals(a, b)
  if (typeof b === 'string') return textEquals(b, a)
  if (typeof a === 'boolean' || typeof b === 'boolean') return a === b
  return compareNumbers(a, b) === 0
}

function textEquals(text: string, value: number | bigint | boolean): boolean | null {
  if (typeof value === 'boolean') return (text.toLowerCase() === 'true') === value
  if (typeof value === 'bigint' && !isLong(text)) return null
  const number = toNumber(text)
  return number === null ? null : compareNumbers(number, value) === 0
}

function isLong(text: string): boolean {
  if (!INTEGER.test(text)) return false
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(LONG_BITS, value) === value
}
