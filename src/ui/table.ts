import { type Cell, cellForPeople, cellForPrograms } from './cell.ts'
import { paint, type Style } from './style.ts'
import { displayWidth, truncate } from './text.ts'

export interface Column<Row> {
  readonly header: string
  readonly value: (row: Row) => Cell
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
  const cells = rows.map((row) => columns.map((column) => cellForPeople(column.value(row), look.now)))
  const widths = fitWidths(
    columns.map((column, i) =>
      Math.max(column.header.length, ...cells.map((row) => displayWidth(row[i] ?? ''))),
    ),
    look.columns,
  )
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

function isNumeric(cell: Cell): boolean {
  return typeof cell === 'number' || cell === null
}

/** Takes from the widest column, again and again, until the row fits or nothing more can go. */
function fitWidths(widths: readonly number[], terminal: number): readonly number[] {
  const fitted = [...widths]
  const gaps = GAP.length * (fitted.length - 1)
  let excess = fitted.reduce((sum, width) => sum + width, gaps) - terminal
  for (; excess > 0; excess--) {
    const widest = Math.max(...fitted)
    if (widest <= NARROWEST) break
    fitted[fitted.indexOf(widest)] = widest - 1
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
