import type { Cell } from './cell.ts'
import { type Column, renderFacts, renderTable, type TableLook } from './table.ts'
import { type ColorChoice, type Env, wantsColor } from './terminal.ts'
import { escapeControlsInJson } from './text.ts'

/** The part of `process.stdout` that is needed, so that tests can hand in a terminal of their own. */
export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): boolean
}

export interface OutputOptions {
  readonly stream: OutputStream
  readonly env: Env
  readonly color: ColorChoice
  readonly now: () => number
}

/** The reader of stdout went away (`| head`): an ordinary end, exit 0, nothing more to say. */
export class ReaderGone extends Error {
  override readonly name = 'ReaderGone'
}

const COLUMNS_DEFAULT = 80

/** Data for stdout: tables, facts, lines, JSON. Nothing else of rmq writes there. */
export class Output {
  /** A person looks at it. */
  readonly terminal: boolean
  readonly color: boolean
  readonly #stream: OutputStream
  readonly #now: () => number

  constructor(options: OutputOptions) {
    this.#stream = options.stream
    this.#now = options.now
    this.terminal = options.stream.isTTY === true
    this.color = wantsColor(options.color, options.env, this.terminal)
  }

  /** One JSON document: indented for a terminal, one line for a pipe. */
  json(value: unknown): Promise<void> {
    const text = JSON.stringify(value, null, this.terminal ? 2 : 0)
    return this.line(this.terminal ? escapeControlsInJson(text) : text)
  }

  /** One line of NDJSON. */
  record(value: unknown): Promise<void> {
    const text = JSON.stringify(value)
    return this.line(this.terminal ? escapeControlsInJson(text) : text)
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Promise<void> {
    return this.write(renderTable(columns, rows, this.#look()))
  }

  facts(facts: readonly (readonly [string, Cell])[]): Promise<void> {
    return this.write(renderFacts(facts, this.#look()))
  }

  /** An empty line between two blocks on a terminal; a pipe gets none. */
  gap(): Promise<void> {
    return this.write(this.terminal ? '\n' : '')
  }

  line(text: string): Promise<void> {
    return this.write(`${text}\n`)
  }

  /** Resolves when the system has taken the bytes. Rejects with `ReaderGone` when nobody reads any more. */
  write(chunk: string | Uint8Array): Promise<void> {
    if (chunk.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error) => {
        if (!error) resolve()
        else reject(isReaderGone(error) ? new ReaderGone('the reader of stdout went away') : error)
      })
    })
  }

  #look(): TableLook {
    return {
      terminal: this.terminal,
      color: this.color,
      columns: this.#stream.columns || COLUMNS_DEFAULT,
      now: this.#now(),
    }
  }
}

export function isReaderGone(error: unknown): boolean {
  if (error instanceof ReaderGone) return true
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
}
