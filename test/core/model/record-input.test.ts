import { describe, expect, test } from 'vitest'
import { parseRecordLine } from '../../../src/core/model/record-input.ts'

const NOW = Date.UTC(2026, 7, 1, 12)
const read = (line: string | Buffer, lineNumber = 4) => parseRecordLine(line, lineNumber, NOW)

describe('an object with a body is a message', () => {
  test('with all it may say', () => {
    const line = {
      topic: 'orders',
      key: 'k',
      keys: ['k', 'l'],
      tags: 'paid',
      properties: { a: '1' },
      body: 'text',
    }
    expect(read(JSON.stringify(line))).toEqual(line)
  })

  test('tag is another name of tags, null is absent, and fields of a broker are ignored', () => {
    const line = '{"msgId":"00","queueOffset":5,"key":null,"tags":null,"tag":"t","properties":null,"body":""}'
    expect(read(line)).toEqual({ tags: 't', body: '' })
  })

  test('bytes come as base64, with or without padding', () => {
    expect(read('{"bodyBase64":"AP8="}').body).toEqual(Buffer.from([0, 255]))
    expect(read('{"bodyBase64":"AP8"}').body).toEqual(Buffer.from([0, 255]))
    expect(read('{"bodyBase64":""}').body).toEqual(Buffer.alloc(0))
  })

  test.each([
    ['{"body": {"b" : 1, "a":[1, {"x":"}"}]} ,"key":"k"}', '{"b" : 1, "a":[1, {"x":"}"}]}'],
    ['{"key":"body","body":[ ]}', '[ ]'],
    ['{"body":12345678901234567890}', '12345678901234567890'],
    ['{"body":1.50 , "key":"k"}', '1.50'],
    ['{"body":null}', 'null'],
    [' { "k\\"ey" : {"body":1} , "bod\\u0079" : true } ', 'true'],
    ['{"body":1,"x":"a,\\\\","body":2}', '2'],
  ])('a body that is no string stays the text it was: %s', (line, body) => {
    expect(read(line).body).toBe(body)
  })
})

describe('a line may say when its message comes', () => {
  test.each([
    ['{"body":"a","delay":"10s"}', { delayMs: 10_000 }],
    ['{"body":"a","delay":"0ms","delayLevel":null}', { delayMs: 0 }],
    ['{"body":"a","delayLevel":3}', { delayLevel: 3 }],
    ['{"body":"a","delayLevel":99}', { delayLevel: 99 }],
    [
      '{"body":"a","deliverAt":"2026-08-01T15:45:00.250+05:45"}',
      { deliverAt: Date.UTC(2026, 7, 1, 10, 0, 0, 250) },
    ],
    ['{"body":"a","deliverAt":1785592800}', { deliverAt: 1_785_592_800_000 }],
    ['{"body":"a","deliverAt":1785592800250}', { deliverAt: 1_785_592_800_250 }],
    ['{"body":"a","deliverAt":"1785592800250"}', { deliverAt: 1_785_592_800_250 }],
    ['{"body":"a","deliverAt":"now"}', { deliverAt: NOW }],
    ['{"body":"a","deliverAt":"-15m"}', { deliverAt: NOW - 900_000 }],
    ['{"body":"a","deliverAt":"2026-08-02"}', { deliverAt: new Date(2026, 7, 2).getTime() }],
    [
      '{"body":"a","deliverAt":"2026-08-02#10:00:00:007"}',
      { deliverAt: new Date(2026, 7, 2, 10, 0, 0, 7).getTime() },
    ],
    ['{"body":"a","delay":null,"deliverAt":null}', {}],
  ])('%s', (line, delay) => {
    expect(read(line)).toEqual({ body: 'a', ...delay })
  })

  test('a body of its own may have such fields too', () => {
    const line = '{"delay":"soon","deliverAt":false}'
    expect(read(line)).toEqual({ body: line })
  })
})

describe('any other JSON is itself the body', () => {
  test.each(['{"key":"k","topic":"other","amount":5}', '{}', '[1, 2]', '"text"', '17', 'null'])(
    '%s',
    (line) => {
      expect(read(line)).toEqual({ body: line })
    },
  )

  test('without the CR of a line that ended with CR LF, or the mark that begins a file', () => {
    expect(read('{"a":1}\r')).toEqual({ body: '{"a":1}' })
    expect(read('\ufeff{"a":1}', 1)).toEqual({ body: '{"a":1}' })
  })
})

describe('a line that cannot be sent names its number and the reason', () => {
  test.each([
    ['', 'not JSON'],
    ['plain text', 'not JSON'],
    ['{"body":"a"', 'not JSON'],
    ['\ufeff{}', 'not JSON'],
    ['{"body":"a","bodyBase64":"YQ=="}', 'both body and bodyBase64'],
    ['{"bodyBase64":"a"}', 'not base64'],
    ['{"bodyBase64":"YQ==YQ=="}', 'not base64'],
    ['{"bodyBase64":"Y Q="}', 'not base64'],
    ['{"bodyBase64":5}', 'not base64'],
    ['{"body":"\\ud800"}', 'half of a surrogate pair'],
    ['{"body":"a","key":17}', 'its key is a number'],
    ['{"body":"a","topic":["t"]}', 'its topic is an array'],
    ['{"body":"a","tags":{}}', 'its tags is an object'],
    ['{"body":"a","keys":"k"}', 'keys are not an array of strings'],
    ['{"body":"a","keys":["k",1]}', 'keys are not an array of strings'],
    ['{"body":"a","properties":[]}', 'properties are not an object'],
    ['{"body":"a","properties":{"n":1}}', 'its property "n" is a number'],
    ['{"body":"a","properties":{"n":null}}', 'its property "n" is null'],
    ['{"body":"a","delay":"10"}', '"10" is not a duration .its unit is missing'],
    ['{"body":"a","delay":10}', 'its delay is a number, not a string'],
    ['{"body":"a","delay":"5000d"}', 'a delay of 432000000000 ms is not allowed'],
    ['{"body":"a","delayLevel":"3"}', 'its delayLevel is a string, not a number'],
    ['{"body":"a","delayLevel":0}', 'delay level 0 is not allowed .levels are 1 to 18'],
    ['{"body":"a","delayLevel":1.5}', 'delay level 1.5 is not allowed'],
    ['{"body":"a","deliverAt":"tomorrow"}', '"tomorrow" is not a time'],
    ['{"body":"a","deliverAt":"2026-08-01T10:00:00"}', 'is not a time'],
    ['{"body":"a","deliverAt":-5.5}', '"-5.5" is not a time'],
    ['{"body":"a","deliverAt":["now"]}', 'its deliverAt is an array, not a string'],
    ['{"body":"a","delay":"1s","delayLevel":1}', 'delayLevel and delayMs exclude each other'],
    ['{"body":"a","delayLevel":1,"deliverAt":"now"}', 'delayLevel and deliverAt exclude each other'],
  ])('%s', (line, reason) => {
    expect(() => read(line)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT_LINE',
        message: expect.stringMatching(new RegExp(`^line 4 cannot be sent: .*${reason}`)),
        details: { line: 4 },
      }),
    )
  })

  test('bytes that are no UTF-8', () => {
    const line = Buffer.concat([Buffer.from('{"body":"'), Buffer.from([0xfc]), Buffer.from('"}')])
    expect(() => read(line)).toThrow(expect.objectContaining({ message: expect.stringContaining('UTF-8') }))
  })
})
