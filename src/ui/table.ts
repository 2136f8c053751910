import { type Cell, cellForPeople, cellForPrograms } from './cell.ts'
import { paint, type Style } from './style.ts'
import { displayWidth, truncate } from './text.ts'

export interface Column<Row> {
  readonly header: string
  readonly value: (row: Row) => Cell
  /** Never cut: what people copy into the next command. */
  readonly whole?: boolean
  /** Left out, the last one first, where the terminal is too narrow for all. */
  readonly onlyWide?: boolean
  /** Colour of a cell on a terminal. */
  readonly style?: (row: Row) => Style | undefined
}

export interface TableLook {
  readonly terminal: boolean
  readonly color: boolean
  /** Width of the terminal. */
  readonly columns: number
  /** Wall clock, for relative times. */
  readonly now: number
}

const GAP = '  '
const NARROWEST = 6

/**
 * Rows as text. On a terminal aligned, under a header, fitted to its width; in a pipe one line a row, tab
 * separated, nothing cut and no header. Numbers stand to the right. Ends with a newline unless it is empty.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  look: TableLook,
): string {
  if (!look.terminal) {
    return rows.map((row) => `${columns.map((c) => cellForPrograms(c.value(row))).join('\t')}\n`).join('')
  }
  if (rows.length === 0) return ''
  return renderForTerminal(fittingColumns(columns, rows, look), rows, look)
}

function renderForTerminal<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  look: TableLook,
): string {
  const cells = rows.map((row) => columns.map((column) => cellForPeople(column.value(row), look.now)))
  const natural = columns.map((column) => naturalWidth(column, rows, look))
  const widths = fitWidths(columns, natural, look.columns)
  const numeric = columns.map((column) => rows.every((row) => isNumeric(column.value(row))))
  const line = (texts: readonly string[], style: (column: number) => Style | undefined) =>
    texts
      .map((text, i) => {
        const cut = truncate(text, widths[i] ?? 0)
        const padding = ' '.repeat(Math.max(0, (widths[i] ?? 0) - displayWidth(cut)))
        const painted = paint(cut, style(i), look.color)
        return numeric[i] ? padding + painted : painted + padding
      })
      .join(GAP)
      .trimEnd()
  const header = line(
    columns.map((column) => column.header),
    () => 'dim',
  )
  const body = rows.map((row, r) => line(cells[r] ?? [], (i) => columns[i]?.style?.(row)))
  return `${[header, ...body].join('\n')}\n`
}

function naturalWidth<Row>({ header, value }: Column<Row>, rows: readonly Row[], look: TableLook): number {
  return Math.max(header.length, ...rows.map((row) => displayWidth(cellForPeople(value(row), look.now))))
}

/** All columns where there is room, else without as many of those for wide terminals as it takes. */
function fittingColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  look: TableLook,
): readonly Column<Row>[] {
  const width = columns.reduce(
    (sum, column) => sum + naturalWidth(column, rows, look) + GAP.length,
    -GAP.length,
  )
  const last = columns.findLastIndex((column) => column.onlyWide === true)
  if (width <= look.columns || last < 0) return columns
  return fittingColumns(columns.toSpliced(last, 1), rows, look)
}

function isNumeric(cell: Cell): boolean {
  return typeof cell === 'number' || cell === null
}

/** Takes from the widest column that may be cut, again and again, until the row fits or nothing more can go. */
function fitWidths<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
  terminal: number,
): readonly number[] {
  const fitted = [...widths]
  const cuttable = () => fitted.map((width, i) => (columns[i]?.whole ? 0 : width))
  const gaps = GAP.length * (fitted.length - 1)
  let excess = fitted.reduce((sum, width) => sum + width, gaps) - terminal
  for (; excess > 0; excess--) {
    const candidates = cuttable()
    const widest = Math.max(...candidates)
    if (widest <= NARROWEST) break
    fitted[candidates.indexOf(widest)] = widest - 1
  }
  return fitted
}

/** Names and values of one thing: aligned on a terminal, `name<TAB>value` in a pipe. */
export function renderFacts(facts: readonly (readonly [string, Cell])[], look: TableLook): string {
  if (!look.terminal) return facts.map(([name, cell]) => `${name}\t${cellForPrograms(cell)}\n`).join('')
  const width = Math.max(0, ...facts.map(([name]) => name.length))
  return facts
    .map(
      ([name, cell]) =>
        `${paint(name.padEnd(width), 'dim', look.color)}${GAP}${cellForPeople(cell, look.now)}\n`,
    )
    .join('')
}
