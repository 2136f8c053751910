import type { Expression } from './expression.ts'
import type { ExpressionBuilder } from './expression-builder.ts'

/** Reads a whole text. Throws `SyntaxError`, or what `build` throws. */
export function parse(text: string, options: { readonly build: ExpressionBuilder }): Expression

/** The text does not follow the grammar. */
declare class Mismatch extends SyntaxError {
  /** What could have stood there; those of type `other` are tokens. */
  readonly expected: readonly { readonly type: string; readonly description?: string }[]
  /** The character that stands there; null at the end. */
  readonly found: string | null
  readonly location: { readonly start: { readonly offset: number } }
}

export { Mismatch as SyntaxError }
