import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { MessageExt } from '../../../src/core/model/message.ts'
import { recordLine, toRecord } from '../../../src/core/model/message-record.ts'
import { parseRecordLine } from '../../../src/core/model/record-input.ts'

const message: MessageExt = {
  msgId: '0123456789ABCDEF0123456789ABCDEF',
  topic: 'orders',
  brokerName: 'embedded',
  queueId: 3,
  queueOffset: 120,
  key: 'order-17',
  keys: ['order-17'],
  tags: null,
  properties: { region: 'eu' },
  body: Buffer.from('paid'),
  bornTimestamp: 0,
  storeTimestamp: 1_785_587_415_250,
  reconsumeTimes: 2,
}

const withBody = (body: Uint8Array) => ({ ...message, body })

test('a record has the fields in their order, and no broker name on a file', () => {
  expect(recordLine(message)).toBe(
    '{"msgId":"0123456789ABCDEF0123456789ABCDEF","topic":"orders","queueId":3,"queueOffset":120,' +
      '"key":"order-17","keys":["order-17"],"tags":null,"reconsumeTimes":2,' +
      '"bornTimestamp":"1970-01-01T00:00:00.000Z","storeTimestamp":"2026-08-01T12:30:15.250Z",' +
      '"properties":{"region":"eu"},"body":"paid","bodySize":4}',
  )
})

test('a cluster names its broker, and a replay its number', () => {
  const record = toRecord({ ...message, brokerName: 'broker-a', redelivery: { deadLetterId: 9, replay: 2 } })
  expect(record).toMatchObject({ brokerName: 'broker-a', replay: 2 })
  expect(toRecord(message)).not.toHaveProperty('replay')
})

describe('a body is text only when that loses nothing', () => {
  test.each([
    ['empty', '', ''],
    ['ASCII', '70616964', 'paid'],
    ['a NUL', '610062', 'a\0b'],
    ['four bytes', 'f09f9a80', '🚀'],
    ['a byte order mark', 'efbbbf61', '\ufeffa'],
    ['the replacement character itself', 'efbfbd', '\ufffd'],
  ])('%s is', (_what, hex, text) => {
    const record = toRecord(withBody(Buffer.from(hex, 'hex')))
    expect(record).toMatchObject({ body: text, bodySize: hex.length / 2 })
    expect(record).not.toHaveProperty('bodyBase64')
  })

  test.each([
    ['a lone continuation byte', '80'],
    ['a cut character', 'f09f9a'],
    ['an overlong slash', 'c0af'],
    ['half of a surrogate pair', 'eda080'],
    ['a code point beyond the last', 'f4908080'],
    ['Latin-1', 'fc'],
  ])('%s is not', (_what, hex) => {
    const bytes = Buffer.from(hex, 'hex')
    const record = toRecord(withBody(bytes))
    expect(record).toMatchObject({ bodyBase64: bytes.toString('base64'), bodySize: bytes.length })
    expect(record).not.toHaveProperty('body')
  })

  test('a body that is a part of a larger buffer is only that part', () => {
    const whole = new Uint8Array([1, 2, 0x61, 0x62, 3])
    expect(toRecord(withBody(whole.subarray(2, 4)))).toMatchObject({ body: 'ab', bodySize: 2 })
  })
})

test('a stamp that no date can express does not stop the message', () => {
  const record = toRecord({ ...message, bornTimestamp: Number.MAX_SAFE_INTEGER, storeTimestamp: Number.NaN })
  expect(record.bornTimestamp).toBe('+275760-09-13T00:00:00.000Z')
  expect(record.storeTimestamp).toBe('1970-01-01T00:00:00.000Z')
})

test('a line is the JSON of its record, whatever the message holds', () => {
  // Of any UTF-16 units: quotes, control characters, surrogates that stand alone.
  const text = fc.string({ unit: 'binary' })
  const fields = fc.record({
    topic: text,
    brokerName: fc.constantFrom('embedded', 'broker-a', '"'),
    key: fc.option(text),
    keys: fc.array(text, { maxLength: 2 }),
    tags: fc.option(text),
    properties: fc.dictionary(text, text),
    body: fc.oneof(fc.uint8Array(), text.map(Buffer.from)),
    redelivery: fc.option(fc.constant({ deadLetterId: 4, replay: 2 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fields, fc.boolean(), ({ redelivery, ...some }, isOnlyKey) => {
      const keys = isOnlyKey && some.key !== null ? [some.key] : some.keys
      const one = { ...message, ...some, keys, ...(redelivery && { redelivery }) }
      expect(recordLine(one)).toBe(JSON.stringify(toRecord(one)))
    }),
    { seed: 5, numRuns: 1000 },
  )
  for (const odd of ['\ud800', 'a\udc00b', '\x7f', '\x1f', '\u2028', '"', '\\']) {
    const one = { ...message, key: odd, keys: [odd], tags: odd, topic: odd }
    expect(recordLine(one)).toBe(JSON.stringify(toRecord(one)))
  }
})

test('what is printed can be sent again without a loss', () => {
  const text = fc.string({ unit: 'grapheme' })
  const original = fc.record({
    topic: text,
    key: fc.option(text),
    keys: fc.array(text),
    tags: fc.option(text),
    properties: fc.dictionary(text, text),
    body: fc.oneof(fc.uint8Array(), text.map(Buffer.from)),
  })
  fc.assert(
    fc.property(original, (fields) => {
      const line = recordLine({ ...message, ...fields })
      expect(line).not.toContain('\n')
      const { body, ...rest } = parseRecordLine(Buffer.from(line), 1, 0)
      expect(Buffer.from(body as Uint8Array)).toEqual(Buffer.from(fields.body))
      expect(rest).toEqual({
        topic: fields.topic,
        ...(fields.key === null ? {} : { key: fields.key }),
        keys: fields.keys,
        ...(fields.tags === null ? {} : { tags: fields.tags }),
        properties: fields.properties,
      })
    }),
    { seed: 3 },
  )
})
