import { describe, expect, test } from 'vitest'
import { parseRecordLine } from '../../../src/core/model/record-input.ts'

const read = (line: string | Buffer, lineNumber = 4) => parseRecordLine(line, lineNumber)

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
    ['{"body":"a","delay":"10s"}', 'it asks for delay'],
    ['{"body":"a","deliverAt":5}', 'it asks for deliverAt'],
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
