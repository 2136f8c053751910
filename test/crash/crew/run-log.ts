import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'

/** A line of the log that the handlers of a test write. */
export interface RunNote {
  readonly what: 'start' | 'success' | 'retry' | 'dead-letter'
  /** Of the process in which the handler runs. */
  readonly pid: number
  /** Of the consumer that started the run. */
  readonly owner: number
  /** The number in the message's body. */
  readonly n: number
  readonly key: string
  readonly attempt: number
  /** Wall clock in milliseconds. */
  readonly at: number
}

/** Reads a log while it is written. */
export class RunLog {
  readonly path: string
  readonly notes: RunNote[] = []
  #read = 0
  #rest = ''

  constructor(path: string) {
    this.path = path
    writeFileSync(path, '')
  }

  /** Reads what came since; answers how many notes there are. */
  look(): number {
    const file = openSync(this.path, 'r')
    const buffer = Buffer.alloc(1 << 16)
    for (let n = readSync(file, buffer, 0, buffer.length, this.#read); n > 0; ) {
      this.#read += n
      this.#take(buffer.toString('latin1', 0, n))
      n = readSync(file, buffer, 0, buffer.length, this.#read)
    }
    closeSync(file)
    return this.notes.length
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const [what, pid, owner, n, key = '', attempt, at] = line.split(' ')
      this.notes.push({
        what: what as RunNote['what'],
        pid: Number(pid),
        owner: Number(owner),
        n: Number(n),
        key,
        attempt: Number(attempt),
        at: Number(at),
      })
    }
  }
}
