import { expect, it } from 'vitest'
import { checkSubscription } from '../../../src/core/model/subscription.ts'

const tag = (expression: string) => ({ topic: 'orders', expressionType: 'TAG' as const, expression })
const sql = (expression: string) => ({ topic: 'orders', expressionType: 'SQL92' as const, expression })

it.each([tag('*'), tag(''), tag('A || B'), tag('A || *'), sql("a > 3 AND b = 'x'")])(
  '%j is fine',
  (subscription) => {
    expect(() => checkSubscription(subscription)).not.toThrow()
  },
)

it.each([tag('||'), tag('A|B'), tag('   '), sql(''), sql('a >'), sql('*')])(
  '%j is refused',
  (subscription) => {
    expect(() => checkSubscription(subscription)).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', hint: expect.any(String) }),
    )
  },
)

it('refuses a type that it does not know', () => {
  const subscription = { ...sql('a = 1'), expressionType: 'XPATH' as 'SQL92' }
  expect(() => checkSubscription(subscription)).toThrowError(/XPATH/)
})
