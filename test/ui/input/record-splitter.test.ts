import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Delimiter, RecordSplitter } from '../../../src/ui/input/record-splitter.ts'

function split(chunks: readonly (string | Buffer)[], delimiter: Delimiter = 'newline'): string[] {
  const splitter = new RecordSplitter(delimiter)
  const records = chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))])
  const last = splitter.end()
  return [...records, ...(last === undefined ? [] : [last])].map((record) => record.toString('latin1'))
}

describe('RecordSplitter', () => {
  it.each([
    [['a\nb\n'], ['a', 'b']],
    [['a\nb'], ['a', 'b']],
    [['a\r\n\r\nb\r\n'], ['a\r', '\r', 'b\r']],
    [['\n\na\n'], ['', '', 'a']],
    [
      ['a', 'b', '\n', 'c'],
      ['ab', 'c'],
    ],
    [['ab', '\n', ''], ['ab']],
    [[''], []],
    [[], []],
  ])('cuts %j into %j', (chunks, records) => {
    expect(split(chunks)).toEqual(records)
  })

  it('cuts at NUL and leaves newlines alone', () => {
    expect(split(['a\nb\0\0c'], 'nul')).toEqual(['a\nb', '', 'c'])
  })

  it('finds the same records however the bytes come in', () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x61, 0xff, 0x00), { maxLength: 200 })
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(200), { maxLength: 8 }), (values, cuts) => {
        const whole = Buffer.from(values)
        const ends = [...cuts.filter((cut) => cut < whole.length), whole.length].sort((a, b) => a - b)
        const chunks = ends.map((end, i) => whole.subarray(ends[i - 1] ?? 0, end))
        const expected = whole.toString('latin1').split('\n')
        if (expected.at(-1) === '') expected.pop()
        expect(split(chunks)).toEqual(expected)
      }),
    )
  })

  it('refuses a record that has no end, and names its line', () => {
    const splitter = new RecordSplitter('newline', 10)
    expect([...splitter.push(Buffer.from('1234567890\n'))]).toHaveLength(1)
    expect([...splitter.push(Buffer.from('12345'))]).toHaveLength(0)
    expect(() => [...splitter.push(Buffer.from('123456'))]).toThrow(/line 2 .*no end/)
  })
})
