import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { parseLines } from './shop.ts'
import { tempFolder } from './temp.ts'

/** A line that a handler wrote when it began, or when its work was done. */
export interface HandlerNote {
  readonly what: 'start' | 'end'
  readonly pid: number
  readonly queueId: number
  readonly offset: number
  /** 1 for the first run. */
  readonly attempt: number
  /** Wall clock in milliseconds. */
  readonly at: number
  /** The name that the command was made with. */
  readonly who: string
  readonly body: string
}

/** The log of all handlers of a test. A run that was killed has a start and no end. */
export class HandlerLog {
  readonly folder = tempFolder()
  readonly #path = join(this.folder, 'handler.log')
  #scripts = 0

  constructor() {
    writeFileSync(this.#path, '')
    onTestFinished(() => this.#endAll())
  }

  /**
   * A command for `--exec` that runs `work` between its two notes and ends as `work` does. `work` is read by sh in
   * a shell of its own and may use `$body` and `$attempt`; `$PPID` is the consumer.
   */
  command(work = ':', who = 'handler'): string {
    const path = join(this.folder, `handler-${++this.#scripts}.sh`)
    const script = `
body=$(tr '\\n' ' ')
attempt=$((RMQ_RECONSUME_TIMES + 1))
note() { printf '%s %s\\n' "$1 $$ $RMQ_QUEUE_ID $RMQ_QUEUE_OFFSET $attempt $(date +%s%N) ${who}" "$body" >> '${this.#path}'; }
note start
( ${work} )
status=$?
note end
exit $status
`
    writeFileSync(path, script)
    return `exec sh '${path}'`
  }

  notes(): readonly HandlerNote[] {
    const lines = readFileSync(this.#path, 'utf8').split('\n')
    // The last one may not be written whole yet.
    return lines.slice(0, -1).map((line) => {
      const [what, pid, queueId, offset, attempt, nanoseconds, who = '', ...body] = line.split(' ')
      return {
        what: what === 'start' ? 'start' : 'end',
        pid: Number(pid),
        queueId: Number(queueId),
        offset: Number(offset),
        attempt: Number(attempt),
        at: Number(nanoseconds) / 1e6,
        who,
        body: body.join(' '),
      }
    })
  }

  /** What a handler appended to this file of the folder, as NDJSON. */
  records(name: string) {
    return parseLines(readFileSync(join(this.folder, name), 'utf8'))
  }

  starts(who?: string): readonly HandlerNote[] {
    return this.notes().filter((note) => note.what === 'start' && (who === undefined || note.who === who))
  }

  /** The bodies in the order in which their runs began. */
  bodies(): readonly string[] {
    return this.starts().map(({ body }) => body)
  }

  /** Runs of one queue that began while another one of it was still at work, by pid. */
  overlaps(): readonly string[] {
    const found: string[] = []
    const running = new Map<number, HandlerNote>()
    for (const note of this.notes()) {
      if (note.what === 'end') {
        running.delete(note.pid)
        continue
      }
      for (const other of running.values()) {
        if (other.queueId === note.queueId) {
          found.push(`${note.who} ${note.body} began during ${other.who} ${other.body}`)
        }
      }
      running.set(note.pid, note)
    }
    return found
  }

  /** Handlers outlive a killed consumer: each leads a process group of its own. */
  #endAll(): void {
    const ended = new Set(this.notes().flatMap(({ what, pid }) => (what === 'end' ? [pid] : [])))
    for (const { pid } of this.starts()) {
      if (ended.has(pid)) continue
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // Gone already.
      }
    }
  }
}
