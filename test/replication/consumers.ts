import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { clock, type Kill } from '../../demo/judge.mjs'
import { type Ended, quote, start } from '../../demo/rmq.mjs'
import type { PlannedKill } from './plan.ts'

interface Consumer {
  readonly name: string
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly complaints: () => string
}

const HANDLER = fileURLToPath(new URL('../../demo/apply.mjs', import.meta.url))
const COMPLAINTS_MAX = 4000

/** The consumers of one run: real processes of `rmq consume --orderly --pipe`, each the leader of a process group. */
export class Consumers {
  readonly kills: Kill[] = []
  readonly problems: string[] = []
  readonly #running = new Map<string, Consumer>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #options: { readonly db: string; readonly folder: string; readonly pauseMs: number }
  #started = 0
  #isStopping = false

  constructor(options: { readonly db: string; readonly folder: string; readonly pauseMs: number }) {
    this.#options = options
  }

  start(): void {
    const { db, folder, pauseMs } = this.#options
    const name = `consumer-${++this.#started}`
    const handler = [process.execPath, HANDLER, folder, name, String(pauseMs)].map(quote).join(' ')
    const args = ['consume', 'changes', '-g', 'replica', '--orderly', '--client-id', name, '--pipe', handler]
    const { child, ended } = start(db, args, ['ignore', 'ignore', 'pipe'], { detached: true })
    let complaints = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString('utf8')).slice(-COMPLAINTS_MAX)
    })
    const consumer = { name, child, ended, complaints: () => complaints }
    this.#running.set(name, consumer)
    void ended.then((how) => this.#sawEnd(consumer, how))
  }

  /** False when none runs at the moment. */
  kill(planned: PlannedKill): boolean {
    const running = [...this.#running.values()]
    const victim = running[Math.floor(planned.victim * running.length)]
    if (victim?.child.pid === undefined) return false
    this.#running.delete(victim.name)
    this.kills.push({ at: clock(), consumer: victim.name })
    process.kill(planned.reach === 'group' ? -victim.child.pid : victim.child.pid, 'SIGKILL')
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.start()
    }, planned.restartAfterMs)
    this.#timers.add(timer)
    return true
  }

  /** Asks all to end and waits for it. */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    const running = [...this.#running.values()]
    for (const { child } of running) child.kill('SIGTERM')
    await Promise.all(running.map(({ ended }) => ended))
  }

  /** Whatever still runs, with its handlers; for the way out of a failed run. */
  destroy(): void {
    this.#isStopping = true
    for (const timer of this.#timers) clearTimeout(timer)
    for (const { child } of this.#running.values()) {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    }
  }

  #sawEnd(consumer: Consumer, how: Ended): void {
    if (!this.#running.delete(consumer.name)) return
    if (this.#isStopping && how.code === 0) return
    this.problems.push(
      `${consumer.name} ended with ${how.code ?? how.signal} unasked:\n${consumer.complaints()}`,
    )
  }
}
