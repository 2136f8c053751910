import { type ReplayResult, type ReplaySummary, RmqError } from '../core/index.ts'
import type { Output } from './output.ts'
import { formatPlural } from './quantities.ts'
import { escapeControls } from './text.ts'

/** Tells what became of each dead letter while a replay runs: a line each, or one JSON document at its end. */
export class ReplayReport {
  readonly #out: Output
  readonly #json: boolean
  readonly #results: ReplayResult[] = []
  #text = ''
  #writing: Promise<void> | undefined
  #failure: unknown
  readonly #onFailed: () => void
  /** Dead letters dealt with so far. */
  done = 0

  /** `onFailed` is called once when nothing can be printed any more. */
  constructor(out: Output, json: boolean, onFailed: () => void) {
    this.#out = out
    this.#json = json
    this.#onFailed = onFailed
  }

  result(result: ReplayResult): void {
    this.done++
    if (this.#json) {
      this.#results.push(result)
      return
    }
    this.#text += this.#line(result)
    this.#writing ??= this.#write()
  }

  /** Prints what is left; with JSON everything. Rejects with what kept it from printing. */
  async finish(summary: ReplaySummary, dryRun: boolean): Promise<void> {
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    if (this.#json) await this.#out.json({ results: this.#results, summary: { ...summary, dryRun } })
  }

  /** While a line is on its way the next ones gather. */
  async #write(): Promise<void> {
    try {
      while (this.#text !== '') {
        const text = this.#text
        this.#text = ''
        await this.#out.write(text)
      }
    } catch (error) {
      this.#failure = error
      this.#onFailed()
      return
    }
    this.#writing = undefined
  }

  #line({ msgId, status, reason, topic, queueId, queueOffset }: ReplayResult): string {
    const cells = [msgId, status, topic, queueId, queueOffset, reason].map((cell) =>
      cell === null ? '-' : escapeControls(String(cell)),
    )
    if (!this.#out.terminal) return `${cells.join('\t')}\n`
    const [id = '', state = '', where = '', queue = '', offset = '', why = ''] = cells
    const place = `${where} queue ${queue} offset ${offset}`
    return `${id}  ${state.padEnd(STATUS_WIDTH)}  ${reason === null ? place : `${place}: ${why}`}\n`
  }
}

const STATUS_WIDTH = 'would-replay'.length

/** `matched 12: replayed 9, skipped 2, failed 1`, and what is left. */
export function summaryText(summary: ReplaySummary, dryRun: boolean): string {
  const { matched, replayed, skipped, failed, remaining } = summary
  const counts = [
    `${dryRun ? 'would replay' : 'replayed'} ${replayed}`,
    `skipped ${skipped}`,
    `failed ${failed}`,
  ]
  if (remaining > 0) counts.push(`remaining ${remaining}`)
  return `matched ${matched}: ${counts.join(', ')}${dryRun ? '; dry run: nothing was changed' : ''}`
}

/** Why a replay that ended is no complete success; `undefined` when it is one. */
export function shortfall(summary: ReplaySummary): RmqError | undefined {
  const { failed, remaining, truncated, interrupted, replayed } = summary
  const details = { ...summary }
  if (interrupted) {
    return new RmqError('INTERRUPTED', `interrupted with ${formatPlural(remaining, 'dead letter')} to go`, {
      why: `${replayed} were replayed before`,
      hint: 'run it again: it goes on where it ended',
      details,
    })
  }
  if (failed > 0) {
    return new RmqError('PARTIAL', `${formatPlural(failed, 'dead letter')} could not be replayed`, {
      why: 'each one is listed with its reason',
      hint: 'they are still among the dead letters, unless they were not found',
      details,
    })
  }
  if (!truncated) return undefined
  return new RmqError('PARTIAL', `the limit left ${formatPlural(remaining, 'dead letter')} over`, {
    why: `${replayed} were replayed`,
    hint: 'run it again for the next ones',
    details,
  })
}
