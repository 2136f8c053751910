import { describe, expect, it } from 'vitest'
import {
  displayWidth,
  escapeControls,
  escapeControlsInJson,
  escapeControlsInLines,
  truncate,
} from '../../src/ui/text.ts'

describe('escapeControls', () => {
  it.each([
    ['plain text, ünï, 日本', 'plain text, ünï, 日本'],
    ['a\tb\nc\rd', 'a\\tb\\nc\\rd'],
    ['\u001b[31mred\u0007', '\\e[31mred\\x07'],
    ['\u0000\u007f\u009b', '\\x00\\x7f\\x9b'],
    ['abc\u202egnp', 'abc\\u202egnp'],
    ['line\u2028end', 'line\\u2028end'],
  ])('%j', (text, escaped) => {
    expect(escapeControls(text)).toBe(escaped)
  })

  it('keeps the line ends of several lines', () => {
    expect(escapeControlsInLines('a\u001b\nb\t')).toBe('a\\e\nb\\t')
  })
})

describe('escapeControlsInJson', () => {
  it('leaves the value as it is', () => {
    const value = { name: 'a\u009bb\u202ec', plain: 'é' }
    const json = escapeControlsInJson(JSON.stringify(value))
    expect(json).toBe('{"name":"a\\u009bb\\u202ec","plain":"é"}')
    expect(JSON.parse(json)).toEqual(value)
  })
})

describe('displayWidth', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['😀', 2],
    ['Ａ', 2],
    ['a\u200bb', 2],
  ])('%j takes %d columns', (text, width) => {
    expect(displayWidth(text)).toBe(width)
  })
})

describe('truncate', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
  ])('%j to %d columns', (text, columns, cut) => {
    expect(truncate(text, columns)).toBe(cut)
    expect(displayWidth(cut)).toBeLessThanOrEqual(columns)
  })
})
