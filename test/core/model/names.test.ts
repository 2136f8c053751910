import { describe, expect, it } from 'vitest'
import { closestName } from '../../../src/core/model/closest-name.ts'
import {
  assertGroupName,
  assertTopicCanBeCreated,
  assertTopicName,
  checkTopicName,
  isReservedPropertyName,
  isSystemTopic,
} from '../../../src/core/model/names.ts'

describe('topic names', () => {
  it.each(['a', '-x', 'x|y', 'x%y', 'Orders_2026-08', '7', 'T'.repeat(127)])('%s is fine', (name) => {
    expect(checkTopicName(name)).toBeUndefined()
    expect(() => assertTopicCanBeCreated(name)).not.toThrow()
  })

  it.each([
    ['', /empty/],
    ['a.b', /"\."/],
    ['a b', /" "/],
    ['44≈ç', /"≈"/],
    ['../x', /"\."/],
    ['T\n', /"\\n"/],
    ['a😀', /"😀"/],
    ['T'.repeat(128), /128 characters, 127/],
  ])('%j is not, and the rule is told', (name, complaint) => {
    expect(checkTopicName(name)).toMatch(complaint)
    expect(() => assertTopicName(name)).toThrowError(
      expect.objectContaining({
        code: 'INVALID_NAME',
        message: expect.stringMatching(complaint),
        why: expect.stringMatching(/1 to 127 of: letters, digits, _ - % \|/),
      }),
    )
  })

  it.each(['TBW102', 'SCHEDULE_TOPIC_XXXX', 'rmq_sys_x', '%RETRY%g', '%DLQ%g'])(
    '%s is the broker’s own',
    (name) => {
      expect(isSystemTopic(name)).toBe(true)
      expect(() => assertTopicName(name)).not.toThrow()
      expect(() => assertTopicCanBeCreated(name)).toThrowError(
        expect.objectContaining({ code: 'INVALID_NAME' }),
      )
    },
  )

  it('differ by case', () => {
    expect(isSystemTopic('tbw102')).toBe(false)
  })
})

describe('group names', () => {
  it('may be longer than topic names', () => {
    expect(() => assertGroupName('g'.repeat(255))).not.toThrow()
    expect(() => assertGroupName('g'.repeat(256))).toThrowError(
      expect.objectContaining({ code: 'INVALID_NAME' }),
    )
  })

  it.each(['DEFAULT_CONSUMER', 'TOOLS_CONSUMER', 'CID_RMQ_SYS_TRANS', 'CID_RMQ_SYS_x', '', 'a b'])(
    '%j is refused',
    (name) => {
      expect(() => assertGroupName(name)).toThrowError(expect.objectContaining({ code: 'INVALID_NAME' }))
    },
  )
})

describe('property names', () => {
  it.each(['KEYS', 'TAGS', 'UNIQ_KEY', '__SHARDINGKEY', 'DELAY', '1ST_POP_TIME', '__RMQ.TRANSIENT.x'])(
    '%s is reserved',
    (name) => expect(isReservedPropertyName(name)).toBe(true),
  )

  it.each(['keys', 'trace-id', 'constructor', '__proto__', 'KEYS2'])('%s is free', (name) =>
    expect(isReservedPropertyName(name)).toBe(false),
  )
})

describe('the closest name', () => {
  it.each([
    ['ordrs', ['payments', 'orders'], 'orders'],
    ['Orders', ['orders'], 'orders'],
    ['order-1', ['order-2', 'order-10'], 'order-2'],
    ['xyz', ['orders', 'payments'], undefined],
    ['a', [], undefined],
  ])('of %s among %j is %s', (name, candidates, closest) => {
    expect(closestName(name, candidates)).toBe(closest)
  })
})
