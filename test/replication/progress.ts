import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** How many changes the journals of a folder say were finished; reads only what was added since the last look. */
export class Progress {
  readonly #folder: string
  readonly #read = new Map<string, number>()
  #done = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  look(): number {
    for (const name of readdirSync(this.#folder)) if (name.startsWith('journal-')) this.#readOn(name)
    return this.#done
  }

  #readOn(name: string): void {
    const file = openSync(join(this.#folder, name), 'r')
    try {
      const chunk = Buffer.alloc(1 << 20)
      const from = this.#read.get(name) ?? 0
      const text = chunk.toString('latin1', 0, readSync(file, chunk, 0, chunk.length, from))
      const whole = text.slice(0, text.lastIndexOf('\n') + 1)
      this.#read.set(name, from + whole.length)
      this.#done += whole.split('"event":"done"').length - 1
    } finally {
      closeSync(file)
    }
  }
}
