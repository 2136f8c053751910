import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from '@oclif/core/command'
import {
  type Assertion,
  type BenchReport,
  type BenchSettings,
  type Broker,
  checkAssertion,
  openBaseline,
  openBroker,
  parseAssertion,
  RmqError,
  seededRuntime,
  systemRuntime,
} from '../core/index.ts'
import { BaseCommand } from './base-command.ts'
import { BenchProcesses } from './bench-processes.ts'
import { benchDocument, writeBenchReport } from './bench-report.ts'
import { Progress } from './progress.ts'
import { listenForStop, stopExitCode } from './signals.ts'

/** What a measurement works with; all of it is closed and removed afterwards. */
export interface BenchBed {
  readonly settings: BenchSettings
  readonly broker: Broker
  readonly baseline: Awaited<ReturnType<typeof openBaseline>>
  readonly processes: BenchProcesses
  readonly paths: { readonly ours: string; readonly raw: string }
  readonly onProgress: (work: string) => void
}

/** `f_type` of a file system in memory (Linux `TMPFS_MAGIC`). */
const TMPFS = 0x01021994

/** Common course of all benchmarks: a folder, both sides opened in it, the measurement, the report, the assertions. */
export abstract class BenchCommand<T extends typeof Command> extends BaseCommand<T> {
  /** Measures within a bed that was made from `settings`; it stops when the command is interrupted. */
  protected async bench(
    settings: Omit<BenchSettings, 'topic'>,
    options: { readonly names: readonly string[]; readonly assertions: readonly string[] | undefined },
    measure: (bed: BenchBed) => Promise<BenchReport>,
  ): Promise<void> {
    const assertions = (options.assertions ?? []).map((text) => parseAssertion(text, options.names))
    const report = await this.#measure(settings, measure)
    if (report !== undefined) await this.#finish(report, assertions)
  }

  /** Nothing when it was interrupted; the exit code says so then. */
  async #measure(
    settings: Omit<BenchSettings, 'topic'>,
    measure: (bed: BenchBed) => Promise<BenchReport>,
  ): Promise<BenchReport | undefined> {
    using stop = listenForStop()
    let work = 'starting'
    using progress = this.#progress(() => work)
    const processes = new BenchProcesses(process.argv[1] ?? '')
    const undo: (() => Promise<void> | void)[] = []
    try {
      const given = this.#givenDb()
      if (given !== undefined) await mkdir(dirname(given), { recursive: true, mode: 0o700 })
      const folder = await mkdtemp(join(given === undefined ? tmpdir() : dirname(given), 'rmq-bench-'))
      undo.push(() => rm(folder, { recursive: true, force: true }))
      await this.#warnOfMemory(folder)
      const paths = { ours: given ?? join(folder, 'rmq.db'), raw: join(folder, 'raw.db') }
      // A file that is kept may have seen a benchmark before.
      const topic = given === undefined ? 'bench' : `bench-${Date.now().toString(36)}`
      const opened = await this.#open({ ...settings, topic }, paths, undo)
      undo.push(() => processes.end())
      const bed = {
        ...opened,
        processes,
        onProgress: (next: string) => {
          work = next
        },
      }
      return await Promise.race([measure(bed), interrupted(stop.signal)])
    } finally {
      progress.clear()
      const signal = stop.received()
      if (signal !== undefined) {
        process.exitCode = stopExitCode(signal)
        this.say('the benchmark was interrupted')
      }
      for (const one of undo.reverse()) await one()
    }
  }

  async #open(
    settings: BenchSettings,
    paths: BenchBed['paths'],
    undo: (() => Promise<void> | void)[],
  ): Promise<Omit<BenchBed, 'processes' | 'onProgress'>> {
    const { durability, queues, topic, seed } = settings
    const broker = await openBroker({
      db: paths.ours,
      durability,
      runtime: seededRuntime(systemRuntime, seed),
    })
    undo.push(() => broker.close())
    await broker.createTopic({ topic, queues, maxBody: Math.max(settings.size, 1) })
    const baseline = await openBaseline({ path: paths.raw, durability, queues })
    undo.push(() => baseline.close())
    return { settings, broker, baseline, paths }
  }

  async #finish(report: BenchReport, assertions: readonly Assertion[]): Promise<void> {
    const checks = assertions.map((assertion) => checkAssertion(assertion, report.metrics))
    if (this.flags.json) await this.out.json(benchDocument(report, checks))
    else await writeBenchReport(report, this.out)
    const failed = checks.filter(({ passed }) => !passed)
    if (failed.length === 0) return
    const seen = failed.map(({ assert, value }) => `${assert} (it is ${value.toPrecision(3)})`).join(', ')
    this.failAfterOutput(
      new RmqError('CHECK_FAILED', `the benchmark did not reach ${seen}`, { details: { failed } }),
    )
  }

  /** Only a file that was named on the command line: RMQ_DB is where real messages are. */
  #givenDb(): string | undefined {
    const isGiven = this.argv.some((word) => word === '--db' || word.startsWith('--db='))
    return isGiven && this.flags.db ? resolve(this.flags.db) : undefined
  }

  async #warnOfMemory(folder: string): Promise<void> {
    if ((await statfs(folder)).type !== TMPFS) return
    this.caution(`${folder} is in memory, where durability costs nothing; --db PATH measures a disk`)
  }

  #progress(text: () => string): Progress {
    const wanted = !this.flags.quiet && !this.flags['no-progress']
    return new Progress({ stream: process.stderr, env: process.env, wanted, text })
  }
}

/** Resolves with nothing when the signal comes; the measurement that goes on meanwhile is left to itself. */
function interrupted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}
