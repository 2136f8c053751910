import { describe, expect, test } from 'vitest'
import { readSources, type Sources } from './sources.ts'
import {
  FILE_LINES_MAX,
  FILE_LINES_MEDIAN_MAX,
  FILE_LINES_P90_MAX,
  FUNCTION_LINES_MAX,
  LINE_COLUMNS_MAX,
  leftovers,
  lineCount,
  longFiles,
  longFunctions,
  longLines,
  quantile,
  repeatedTestNames,
} from './tidy.ts'

const extensions = ['.ts', '.tsx', '.mts', '.js', '.mjs']
const product = writtenByPeople(readSources(['src', 'scripts', 'bin', 'demo'], extensions))
const tests = readSources(['test'], extensions)
const all = new Map([...product, ...tests])

/** What a program wrote has a test that holds it against its source. */
function writtenByPeople(sources: Sources): Sources {
  return new Map([...sources].filter(([path]) => !path.endsWith('.generated.js')))
}

describe('every file', () => {
  test(`has at most ${FILE_LINES_MAX} lines`, () => {
    expect(longFiles(all)).toEqual([])
  })

  test(`has lines of at most ${LINE_COLUMNS_MAX} columns`, () => {
    expect(longLines(all)).toEqual([])
  })

  test('is finished: no notes to self, no checks switched off', () => {
    expect(leftovers(all)).toEqual([])
  })
})

describe('the product', () => {
  const sizes = [...product.values()].map(lineCount)

  test('is made of small files', () => {
    expect(quantile(sizes, 0.5)).toBeLessThanOrEqual(FILE_LINES_MEDIAN_MAX)
    expect(quantile(sizes, 0.9)).toBeLessThanOrEqual(FILE_LINES_P90_MAX)
  })

  test(`has functions of at most ${FUNCTION_LINES_MAX} lines`, () => {
    expect(longFunctions(product)).toEqual([])
  })
})

test('no two tests of a file share a name', () => {
  expect(repeatedTestNames(tests)).toEqual([])
})

describe('the checks see what they look for:', () => {
  const one = (text: string) => new Map([['a.ts', text]])
  const lines = (n: number) => Array(n).fill('//').join('\n')

  test('a long file, a long line, a long function', () => {
    expect(longFiles(one(lines(FILE_LINES_MAX)))).toEqual([])
    expect(longFiles(one(lines(FILE_LINES_MAX + 1)))).toHaveLength(1)
    expect(longLines(one('a'.repeat(LINE_COLUMNS_MAX)))).toEqual([])
    expect(longLines(one('a'.repeat(LINE_COLUMNS_MAX + 1)))).toHaveLength(1)
    expect(longFunctions(one(`const f = () => {${lines(FUNCTION_LINES_MAX - 1)}\n}`))).toEqual([])
    expect(longFunctions(one(`const f = () => {${lines(FUNCTION_LINES_MAX)}\n}`))).toHaveLength(1)
  })

  test.each([`// ${'TO'}DO later`, `x ${'as'} any`, `test.${'skip'}('x')`, `// @ts-${'ignore'}`])(
    '%s',
    (text) => {
      expect(leftovers(one(text))).toHaveLength(1)
    },
  )

  test('the same test name twice, but not in two blocks', () => {
    const twice = "test('a', f)"
    expect(repeatedTestNames(one(`${twice}; ${twice}`))).toHaveLength(1)
    expect(repeatedTestNames(one(`describe('x', () => {${twice}}); ${twice}`))).toEqual([])
  })

  test('the middle and the tail of many sizes', () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2)
    expect(quantile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.9)).toBe(9)
  })
})
