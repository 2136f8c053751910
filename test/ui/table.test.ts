import { describe, expect, it } from 'vitest'
import { instant, relativeTime } from '../../src/ui/cell.ts'
import { type Column, renderFacts, renderTable, type TableLook } from '../../src/ui/table.ts'
import { displayWidth } from '../../src/ui/text.ts'

const NOW = Date.UTC(2026, 7, 1, 12)
const TERMINAL: TableLook = { terminal: true, color: false, columns: 80, now: NOW }
const PIPE: TableLook = { terminal: false, color: false, columns: 80, now: NOW }

interface Row {
  readonly name: string
  readonly count: number | null
  readonly at: number
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'NAME', value: (row) => row.name, style: () => 'bold' },
  { header: 'COUNT', value: (row) => row.count },
  { header: 'AT', value: (row) => instant(row.at) },
]

const ROWS: readonly Row[] = [
  { name: 'orders', count: 5, at: NOW - 61_000 },
  { name: 'a', count: 1234, at: NOW + 3_000 },
  { name: '', count: null, at: NOW },
]

describe('renderTable', () => {
  it('is aligned under a header on a terminal, numbers to the right, times relative', () => {
    expect(renderTable(COLUMNS, ROWS, TERMINAL)).toBe(
      ['NAME    COUNT  AT', 'orders      5  1m ago', 'a        1234  in 3s', '-           -  now', ''].join(
        '\n',
      ),
    )
  })

  it('is tab separated in a pipe, without a header, times in UTC, nothing cut', () => {
    const long = 'x'.repeat(500)
    const rows = [...ROWS, { name: long, count: 1, at: 0 }]
    expect(renderTable(COLUMNS, rows, PIPE).split('\n')).toEqual([
      'orders\t5\t2026-08-01T11:58:59.000Z',
      'a\t1234\t2026-08-01T12:00:03.000Z',
      '\t-\t2026-08-01T12:00:00.000Z',
      `${long}\t1\t1970-01-01T00:00:00.000Z`,
      '',
    ])
  })

  it.each([
    { terminal: true, lines: 2 },
    { terminal: false, lines: 1 },
  ])('keeps one row one line whatever a value holds (terminal: $terminal)', ({ terminal, lines }) => {
    const text = renderTable(COLUMNS, [{ name: 'a\tb\nc\u001b[2J', count: 1, at: NOW }], {
      ...PIPE,
      terminal,
    })
    expect(text).toContain('a\\tb\\nc\\e[2J')
    expect(text.trimEnd().split('\n')).toHaveLength(lines)
  })

  it.each([40, 80, 200])('fits %d columns', (columns) => {
    const rows = [{ name: 't'.repeat(127), count: 12, at: NOW - 5_000 }]
    const lines = renderTable(COLUMNS, rows, { ...TERMINAL, columns })
      .trimEnd()
      .split('\n')
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
    expect(lines[1]).toContain('5s ago')
    expect(lines[1]?.includes('…')).toBe(columns < 150)
  })

  it('paints only where colours are wanted', () => {
    const row = [{ name: 'orders', count: 1, at: NOW }]
    expect(renderTable(COLUMNS, row, { ...TERMINAL, color: true })).toContain('\u001b[1morders\u001b[22m')
    expect(renderTable(COLUMNS, row, TERMINAL)).not.toContain('\u001b')
  })

  it.each([TERMINAL, PIPE])('is empty without rows', (look) => {
    expect(renderTable(COLUMNS, [], look)).toBe('')
  })
})

describe('renderFacts', () => {
  const facts = [
    ['topic', 'orders'],
    ['max body', 4096],
    ['enabled', true],
  ] as const

  it('is aligned on a terminal', () => {
    expect(renderFacts(facts, TERMINAL)).toBe('topic     orders\nmax body  4096\nenabled   yes\n')
  })

  it('is one name and value a line in a pipe', () => {
    expect(renderFacts(facts, PIPE)).toBe('topic\torders\nmax body\t4096\nenabled\ttrue\n')
  })
})

describe('relativeTime', () => {
  it.each([
    [0, 'now'],
    [999, 'now'],
    [-1_000, '1s ago'],
    [-59_999, '59s ago'],
    [60_000, 'in 1m'],
    [-3_600_000, '1h ago'],
    [-86_400_000 * 40, '40d ago'],
  ])('%d ms from now is %s', (distance, text) => {
    expect(relativeTime(NOW + distance, NOW)).toBe(text)
  })
})
