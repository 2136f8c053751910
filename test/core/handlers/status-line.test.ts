import { describe, expect, it } from 'vitest'
import { parseStatusLine } from '../../../src/core/handlers/status-line.ts'

/** As a line comes from a pipe: one character a byte. */
const latin1 = (text: string) => Buffer.from(text).toString('latin1')

describe('a status line', () => {
  it.each([
    '{"id":"0A1b","status":"success"}',
    '{"id": "0A1b", "status": "success"}',
    ' {"status":"success","id":"0A1b"}',
    '{"id":"0A1b","status":"success","note":1}',
    '{"id":"\\u0030A1b","status":"success"}',
  ])('%s is a success', (line) => {
    expect(parseStatusLine(line)).toEqual({ msgId: '0A1b', result: { status: 'success' } })
  })

  it('says why and when to try again', () => {
    const line = latin1('{"id":"a","status":"retry","error":"Straße zu","suspendMs":50}')
    const result = { status: 'retry', error: 'Straße zu', suspendMs: 50 }
    expect(parseStatusLine(line)).toEqual({ msgId: 'a', result })
  })

  it.each([
    '',
    'done',
    '{"id":"a","status":"success"',
    '{"id":"a","status":"success"} ok',
    '{"id":"a","status":"done"}',
    '{"id":7,"status":"success"}',
    '{"status":"success"}',
    '[{"id":"a","status":"success"}]',
    'null',
  ])('%j is none', (line) => {
    expect(parseStatusLine(line)).toBeUndefined()
  })
})
