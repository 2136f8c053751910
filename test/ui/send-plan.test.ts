import { describe, expect, it } from 'vitest'
import { parseRate } from '../../src/ui/rate.ts'
import { type SendPlanFlags, sendPlan } from '../../src/ui/send-plan.ts'

function plan(body: string | undefined, flags: Partial<SendPlanFlags> = {}, stdinIsTerminal = false) {
  return sendPlan('t', body, { atomic: false, ...flags }, stdinIsTerminal)
}

describe('sendPlan', () => {
  it('reads stdin only when nothing else is there, or when it is asked to', () => {
    expect(plan('x')).toMatchObject({ kind: 'body', body: { text: 'x' }, count: 1 })
    expect(plan('')).toMatchObject({ kind: 'body', body: { text: '' } })
    expect(plan(undefined, { file: 'f' })).toMatchObject({ kind: 'body', body: { path: 'f' } })
    expect(plan(undefined, { file: '-' })).toMatchObject({ kind: 'body', body: { path: '-' } })
    expect(plan(undefined)).toMatchObject({ kind: 'records', path: '-', format: 'lines' })
    expect(plan(undefined, { input: 'raw0' }, true)).toMatchObject({
      kind: 'records',
      path: '-',
      format: 'raw0',
    })
    expect(plan(undefined, { input: 'ndjson', file: 'f' })).toMatchObject({ kind: 'records', path: 'f' })
    expect(() => plan(undefined, {}, true)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('rmq send t') }),
    )
  })

  it('makes the template of all messages', () => {
    const flags = { key: 'k', keys: 'a,b', tag: 't', property: ['x=a,b=c', 'json={"x":1}', 'none='] }
    expect(plan('x', flags).template).toEqual({
      topic: 't',
      key: 'k',
      keys: ['a', 'b'],
      tags: 't',
      properties: { x: 'a,b=c', json: '{"x":1}', none: '' },
    })
    expect(plan('x').template).toEqual({ topic: 't' })
  })

  it.each([
    ['BODY and a file', 'x', { file: 'f' }],
    ['BODY and an input', 'x', { input: 'lines' }],
    ['a key delimiter for one body', 'x', { 'key-delimiter': ':' }],
    ['a key delimiter for NDJSON', undefined, { input: 'ndjson', 'key-delimiter': ':' }],
    ['an empty key delimiter', undefined, { 'key-delimiter': '' }],
    ['a key field for lines', undefined, { 'key-field': 'k' }],
    ['two sources of keys', undefined, { key: 'k', 'key-delimiter': ':' }],
    ['repeated records', undefined, { count: 2 }],
    ['a rate of all at once', undefined, { atomic: true, rate: 5 }],
    ['an empty key', 'x', { key: '' }],
    ['an empty lookup key', 'x', { keys: 'a,,b' }],
    ['a damaged key', 'x', { key: 'a\ufffd' }],
    ['a damaged body', '\ufffd', {}],
    ['a property without a value', 'x', { property: ['p'] }],
    ['a property without a name', 'x', { property: ['=v'] }],
    ['a property given twice', 'x', { property: ['a=1', 'a=2'] }],
  ] as const)('refuses %s', (_what, body, flags) => {
    expect(() => plan(body, flags)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})

describe('parseRate', () => {
  it('reads messages a time as messages a second', () => {
    expect(parseRate('100/s')).toBe(100)
    expect(parseRate('90/m')).toBe(1.5)
    expect(parseRate('1800/h')).toBe(0.5)
  })

  it.each(['100', '0/s', '-1/s', '1/d', '', 's', '1 /s'])('refuses %j', (text) => {
    expect(() => parseRate(text)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  })
})
