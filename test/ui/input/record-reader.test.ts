import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type RecordReaderOptions, recordReader } from '../../../src/ui/input/record-reader.ts'

const BARE = { topic: 'orders' }

function read(record: string | Buffer, options: Partial<RecordReaderOptions> = {}, line = 1) {
  const message = recordReader({ template: BARE, format: 'ndjson', ...options })(Buffer.from(record), line)
  return message && { ...message, body: Buffer.from(message.body).toString('latin1') }
}

describe('lines', () => {
  it('are bodies as they are, with a CR and bytes that are no text', () => {
    expect(read('a b\r', { format: 'lines' })).toEqual({ topic: 'orders', body: 'a b\r' })
    expect(read(Buffer.from([0xff, 0x00]), { format: 'raw0' })).toEqual({ topic: 'orders', body: '\xff\0' })
    expect(read('', { format: 'lines' })).toEqual({ topic: 'orders', body: '' })
  })

  it('get key, tag and properties of the command line', () => {
    const template = { ...BARE, key: 'k', keys: ['a'], tags: 't', properties: { p: 'v' } }
    expect(read('x', { template, format: 'lines' })).toEqual({ ...template, body: 'x' })
  })

  it('are cut at the first key delimiter', () => {
    const keyed = { format: 'lines', keyDelimiter: '::' } as const
    expect(read('k::a::b', keyed)).toEqual({ topic: 'orders', key: 'k', body: 'a::b' })
    expect(read('k::', keyed)).toEqual({ topic: 'orders', key: 'k', body: '' })
    expect(() => read('k:a', keyed, 7)).toThrow(/line 7 .*"::"/)
    expect(() => read('::a', keyed, 7)).toThrow(/line 7 .*key is empty/)
    expect(() => read(Buffer.from([0xff, 0x3a, 0x3a]), keyed, 7)).toThrow(/line 7 .*UTF-8/)
  })
})

describe('NDJSON', () => {
  it('says less than the command line', () => {
    const line =
      '{"topic":"other","key":"k","tags":"t","properties":{"a":"1","b":"2"},"keys":["x"],"body":"y"}'
    expect(read(line)).toEqual({
      topic: 'orders',
      key: 'k',
      tags: 't',
      properties: { a: '1', b: '2' },
      keys: ['x'],
      body: 'y',
    })
    const template = { ...BARE, key: 'K', properties: { b: '3' } }
    expect(read(line, { template })).toMatchObject({ key: 'K', tags: 't', properties: { a: '1', b: '3' } })
    expect(read('{"key":"k","body":"y"}', { template })).toEqual({ ...template, body: 'y' })
    expect(read('{"key":null,"body":"y"}')).toEqual({ topic: 'orders', body: 'y' })
  })

  it('keeps the text of a body that is no string, whatever it looks like', () => {
    // Text that JSON allows and that no serialiser would write again in this way.
    const space = fc.stringMatching(/^[ \t]{0,2}$/)
    const text = fc
      .tuple(fc.jsonValue({ maxDepth: 3 }), space, fc.constantFrom(undefined, 1, '\t'))
      .map(([value, pad, indent]) => ({
        value,
        text:
          pad +
          JSON.stringify(value, null, indent)
            .replaceAll('\n', ' ')
            .replaceAll(/(?<=\d)e\+/g, 'E+'),
      }))
      .filter(({ value }) => typeof value !== 'string')
    fc.assert(
      fc.property(text, fc.string(), space, ({ text: body }, key, pad) => {
        fc.pre(key !== '')
        const line = `{${pad}"note":{"body":"}"},"body":${body}${pad},"key":${JSON.stringify(key)}}`
        const message = recordReader({ template: BARE, format: 'ndjson' })(Buffer.from(line), 1)
        expect(String(message?.body)).toBe(body.trim())
        expect(message?.key).toBe(key)
      }),
    )
  })

  it('takes a line without a body as the body, and skips blank ones', () => {
    expect(read('{"key":"mine", "n":1}')).toEqual({ topic: 'orders', body: '{"key":"mine", "n":1}' })
    expect(read('[1,2]\r')).toEqual({ topic: 'orders', body: '[1,2]' })
    expect(read('')).toBeUndefined()
    expect(read(' \r')).toBeUndefined()
  })

  it('says when its message comes, unless the command line does, in whichever way', () => {
    const line = '{"body":"1","delay":"10s"}'
    expect(read(line)).toEqual({ topic: 'orders', body: '1', delayMs: 10_000 })
    for (const delay of [{ delayMs: 5 }, { delayLevel: 3 }, { deliverAt: 1_800_000_000_000 }]) {
      expect(read(line, { template: { ...BARE, ...delay } })).toEqual({
        topic: 'orders',
        body: '1',
        ...delay,
      })
      const tagged = '{"body":"1","delayLevel":1,"tags":"t","key":"k"}'
      expect(read(tagged, { template: { ...BARE, ...delay } })).toEqual({
        topic: 'orders',
        body: '1',
        key: 'k',
        tags: 't',
        ...delay,
      })
    }
  })

  it('finds the key in the body', () => {
    const keyField = 'user'
    expect(read('{"user":"u1","n":1}', { keyField })).toMatchObject({ key: 'u1' })
    expect(read('{"body":{"user":17}}', { keyField })).toMatchObject({ key: '17', body: '{"user":17}' })
    expect(read('{"body":"{\\"user\\":\\"x\\"}"}', { keyField })).toMatchObject({ key: 'x' })
    for (const body of [
      '{}',
      '{"user":null}',
      '{"user":""}',
      '{"user":1.5}',
      '{"user":12345678901234567890}',
      '3',
    ]) {
      expect(() => read(body, { keyField }, 4)).toThrow(/line 4 .*"user"/)
    }
  })

  it.each([
    ['{"body":"1"', /line 9 .*JSON/],
    [Buffer.from([0x22, 0xff, 0x22]), /line 9 .*UTF-8/],
    ['{"body":"1","key":""}', /line 9 .*key is empty/],
    ['{"body":"1","key":5}', /line 9 .*key/],
    ['{"body":"1","key":"\\ud800"}', /line 9 .*surrogate/],
    ['{"body":"1","properties":{"a":"\\udc00"}}', /line 9 .*surrogate/],
    ['{"body":"\\ud800"}', /line 9 .*surrogate/],
    ['{"body":"1","delayLevel":0}', /line 9 .*delay level 0/],
    ['{"body":"1","delay":"soon"}', /line 9 .*"soon" is not a duration/],
    ['{"body":"1","deliverAt":"soon"}', /line 9 .*"soon" is not a time/],
    ['{"body":"1","delay":"1s","deliverAt":"now"}', /line 9 .*exclude each other/],
    ['{"body":"1","bodyBase64":"MQ=="}', /line 9 .*both/],
    ['{"bodyBase64":"M!"}', /line 9 .*base64/],
    ['{"body":"1","keys":"a"}', /line 9 .*keys/],
    ['{"body":"1","properties":{"a":1}}', /line 9 .*"a"/],
  ])('refuses %s', (line, message) => {
    expect(() => read(line, {}, 9)).toThrow(message)
    expect(() => read(line, {}, 9)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT_LINE' }))
  })

  it('takes a whole pair of surrogates, and NUL', () => {
    expect(
      recordReader({ template: BARE, format: 'ndjson' })(
        Buffer.from('{"body":"","key":"a\\u0000\\ud83d\\ude00"}'),
        1,
      ),
    ).toEqual({ topic: 'orders', body: '', key: 'a\0😀' })
  })
})
