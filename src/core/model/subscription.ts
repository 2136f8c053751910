import { RmqError } from './errors.ts'
import type { Subscription } from './group.ts'
import { parseSql92 } from './sql92/parse.ts'
import { parseTagExpression } from './tag-expression.ts'

/**
 * Refuses, before the first message, an expression that could not be evaluated, and a tag expression that takes
 * nothing: its consumer would pass over every message. INVALID_ARGUMENT.
 */
export function checkSubscription({ topic, expressionType, expression }: Subscription): void {
  if (expressionType === 'SQL92') {
    parseSql92(expression)
    return
  }
  if (expressionType !== 'TAG') {
    throw new RmqError('INVALID_ARGUMENT', `expression type ${JSON.stringify(expressionType)} is not known`, {
      why: `the subscription of ${topic} is neither TAG nor SQL92`,
    })
  }
  if (parseTagExpression(expression)?.size === 0) {
    throw new RmqError('INVALID_ARGUMENT', `tag expression ${JSON.stringify(expression)} takes no message`, {
      why: 'it is blank: every message would be passed over',
      hint: "name a tag, or take everything with '*'",
      details: { expression },
    })
  }
}
