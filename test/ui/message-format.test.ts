import { describe, expect, it } from 'vitest'
import type { MessageExt } from '../../src/core/index.ts'
import { RmqError } from '../../src/core/index.ts'
import { type MessageFormatOptions, messageFormatter } from '../../src/ui/message-format.ts'

const MESSAGE: MessageExt = {
  msgId: '0A0B0C0D000000010000000000000007',
  topic: 'orders',
  brokerName: 'embedded',
  queueId: 3,
  queueOffset: 7,
  key: 'order-17',
  keys: ['order-17', 'invoice 9'],
  tags: 'paid',
  properties: { trace: 'a,b=c', empty: '' },
  body: Buffer.from('hello'),
  bornTimestamp: Date.UTC(2026, 7, 1, 10, 0, 0, 1),
  storeTimestamp: Date.UTC(2026, 7, 1, 10, 0, 0, 2),
  reconsumeTimes: 2,
}

function print(
  options: Partial<MessageFormatOptions>,
  change: Partial<MessageExt> = {},
  running = 1,
): string {
  return messageFormatter({ terminal: false, ...options })({ ...MESSAGE, ...change }, running).toString(
    'latin1',
  )
}

describe('the format language', () => {
  it.each([
    ['%t %p %o %k %g %s', 'orders 3 7 order-17 paid hello'],
    ['%K', 'order-17,invoice 9'],
    ['%S %r %n %i', '5 2 42 0A0B0C0D000000010000000000000007'],
    ['%T %B', `${MESSAGE.storeTimestamp} ${MESSAGE.bornTimestamp}`],
    ['%T{iso} %B{iso}', '2026-08-01T10:00:00.002Z 2026-08-01T10:00:00.001Z'],
    ['%h', 'trace=a,b=c,empty='],
    ['%h{trace}|%h{empty}|%h{none}|%h{toString}', 'a,b=c|||'],
    ['%s{json} %s{hex} %s{base64}', '"hello" 68656c6c6f aGVsbG8='],
    ['100%%', '100%'],
    ['a\\tb\\nc\\0d\\\\e\\x7c\\xff', 'a\tb\nc\0d\\e|\xff'],
    ['{"o":%o}{%k}', '{"o":7}{order-17}'],
    ['', ''],
  ])('prints %j', (format, expected) => {
    expect(print({ format }, {}, 42)).toBe(expected)
  })

  it('prints nothing for an absent key or tag', () => {
    expect(print({ format: '[%k%g%K]' }, { key: null, tags: null, keys: [] })).toBe('[]')
  })

  it('leaves the bytes of a body alone', () => {
    const body = Buffer.from([0xff, 0x00, 0x0a, 0xfe])
    expect(print({ format: '<%s>' }, { body })).toBe('<\xff\x00\n\xfe>')
  })

  it.each([
    ['%q', 1],
    ['abc %', 5],
    ['%k\\q', 3],
    ['%s{xml}', 3],
    ['%T{iso', 3],
    ['\\x1g', 1],
    ['%s{toString}', 3],
  ])('refuses %j and says where', (format, position) => {
    const error = catchError(() => messageFormatter({ format, terminal: false }))
    expect(error.code).toBe('INVALID_ARGUMENT')
    expect(error.details).toMatchObject({ position })
  })
})

describe('the fixed forms', () => {
  it('prints body and newline, or body and NUL, byte for byte', () => {
    const body = Buffer.from([0xc3, 0x28, 0x00])
    expect(print({}, { body })).toBe('\xc3\x28\x00\n')
    expect(print({ raw: true }, { body })).toBe('\xc3\x28\x00\n')
    expect(print({ raw0: true }, { body })).toBe('\xc3\x28\x00\0')
  })

  it('prints the record as one line of JSON', () => {
    const line = print({ json: true }, { body: Buffer.from('a\nb') })
    expect(line.endsWith('\n')).toBe(true)
    expect(line.indexOf('\n')).toBe(line.length - 1)
    expect(JSON.parse(line)).toMatchObject({
      msgId: MESSAGE.msgId,
      queueOffset: 7,
      body: 'a\nb',
      bodySize: 3,
    })
  })
})

describe('on a terminal', () => {
  const nasty = { body: Buffer.from('a\u001b[2Jb\u009bc\r\nd'), key: 'k\u001b]0;x\u0007' }

  it('stands queue, offset and key in front and shows control characters', () => {
    expect(print({ terminal: true }, nasty)).toBe('3:7 k\\e]0;x\\x07  a\\e[2Jb\\x9bc\\r\\nd\n')
    expect(print({ terminal: true, color: true })).toBe('\u001b[2m3:7 order-17\u001b[22m  hello\n')
    expect(print({ terminal: true }, { key: null })).toBe('3:7 -  hello\n')
  })

  it('obeys no message in any form', () => {
    const obeyed = /[\u001b\u0007\u009b]/
    for (const form of [{ raw: true }, { raw0: true }, { json: true }, { format: '%k %s' }]) {
      expect(print({ terminal: true, ...form }, nasty)).not.toMatch(obeyed)
    }
    expect(print({ terminal: true, raw: true }, nasty)).toBe('a\\e[2Jb\\x9bc\r\nd\n')
    expect(JSON.parse(print({ terminal: true, json: true }, nasty))).toMatchObject({ key: nasty.key })
  })

  it('shows what is no text byte by byte', () => {
    expect(print({ terminal: true }, { body: Buffer.from([0x61, 0xff, 0x00]) })).toContain('a\\xff\\x00')
  })
})

function catchError(run: () => unknown): RmqError {
  try {
    run()
  } catch (error) {
    if (error instanceof RmqError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
