import type { ConsumeResult } from '../client/listener.ts'
import { type Runtime, sleep } from '../model/runtime.ts'
import { onAbort } from './on-abort.ts'
import { ENDED_BY_STOP } from './outcomes.ts'
import type { Runner } from './runner.ts'

const RESTART: Required<RestartOptions> = { startsMax: 5, backoffMs: 100, backoffMaxMs: 5_000 }

export interface RestartOptions {
  /** Starts in a row that ended before any message was taken, until HANDLER_FAILED. Default 5. */
  readonly startsMax?: number
  /** First back-off, doubled up to `backoffMaxMs`, in milliseconds. Default 100 and 5000. */
  readonly backoffMs?: number
  readonly backoffMaxMs?: number
}

export interface RunnerKeeperOptions<R extends Runner> {
  readonly start: () => Promise<R>
  readonly runtime: Runtime
  readonly restart?: RestartOptions | undefined
}

/**
 * Keeps one runner alive for many messages.
 *
 * A runner that ends is followed by another one. After a failed one the next has to live through the back-off before
 * it is given anything. That tells what cannot start from what dies of a message: the first ends the consumer after
 * some starts in a row (HANDLER_FAILED) and no message is charged for it; the second is the message's failure, and
 * its attempts decide.
 */
export class RunnerKeeper<R extends Runner> {
  readonly #options: RunnerKeeperOptions<R>
  readonly #restart: Required<RestartOptions>
  /** The one that takes messages. */
  #current: R | undefined
  /** The one that was started last, also while it has to prove itself. */
  #latest: R | undefined
  #starting: Promise<R | undefined> | undefined
  #failedRuns = 0
  #failedStarts = 0
  readonly #closing = new AbortController()

  constructor(options: RunnerKeeperOptions<R>) {
    this.#options = options
    this.#restart = { ...RESTART, ...options.restart }
  }

  /** Starts a runner unless there is one; rejects when that cannot be. */
  async open(): Promise<void> {
    while (this.#current === undefined && !this.#closing.signal.aborted) await this.#start()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#latest?.stop()
    await this.#starting?.catch(() => {})
    // It may have been started meanwhile.
    await this.#latest?.stop()
  }

  /**
   * Gives work to a runner, and to the next one as long as `give` resolves with `undefined`: it did not take it.
   * When `signal` is aborted the runner is stopped, and what it does not answer by then was ended by the stop.
   */
  serve(
    signal: AbortSignal,
    give: (runner: R) => Promise<ConsumeResult | undefined>,
  ): Promise<ConsumeResult> {
    if (this.#isStopped(signal)) return Promise.resolve(ENDED_BY_STOP)
    return new Promise((resolve, reject) => {
      const leave = onAbort(signal, () => void this.#stopFor(resolve))
      this.#serve(signal, give).finally(leave).then(resolve, reject)
    })
  }

  async #serve(
    signal: AbortSignal,
    give: (runner: R) => Promise<ConsumeResult | undefined>,
  ): Promise<ConsumeResult> {
    while (!this.#isStopped(signal)) {
      const runner = this.#current ?? (await this.#start())
      if (this.#isStopped(signal)) break
      const result = runner && (await give(runner))
      if (result !== undefined) return result
    }
    return ENDED_BY_STOP
  }

  #isStopped(signal: AbortSignal): boolean {
    return signal.aborted || this.#closing.signal.aborted
  }

  async #stopFor(resolve: (result: ConsumeResult) => void): Promise<void> {
    await this.#latest?.stop()
    // Behind the answers that came with its last words.
    this.#options.runtime.defer(() => resolve(ENDED_BY_STOP))
  }

  #start(): Promise<R | undefined> {
    this.#starting ??= this.#startProven().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** `undefined` when a stop came first. */
  async #startProven(): Promise<R | undefined> {
    for (;;) {
      this.#giveUp()
      const runner = await this.#options.start()
      this.#latest = runner
      const ended = runner.ended.then(() => this.#count(runner))
      await Promise.all([runner.ready, sleep(this.#options.runtime, this.#backoffMs(), this.#closing.signal)])
      if (runner.isStopping || this.#closing.signal.aborted) return undefined
      if (!runner.hasEnded) {
        this.#current = runner
        return runner
      }
      await ended
    }
  }

  #backoffMs(): number {
    if (this.#failedRuns === 0) return 0
    return Math.min(this.#restart.backoffMs * 2 ** (this.#failedRuns - 1), this.#restart.backoffMaxMs)
  }

  #count(runner: R): void {
    if (this.#current === runner) this.#current = undefined
    if (runner.isStopping) return
    const { taken, succeeded } = runner.tally
    this.#failedRuns = runner.isDone ? 0 : succeeded > 0 ? 1 : this.#failedRuns + 1
    this.#failedStarts = taken > 0 ? 0 : this.#failedStarts + 1
  }

  #giveUp(): void {
    const starts = this.#failedStarts
    if (starts < this.#restart.startsMax || this.#latest === undefined) return
    this.#failedStarts = 0
    throw this.#latest.failure(starts)
  }
}
