import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type BenchWorker, RmqError, type WorkerOrder, type WorkerSpec } from '../core/index.ts'

/** What a worker process says: it is ready, or the answer to the last order, or why there is none. */
export type WorkerMessage = { readonly value: unknown } | { readonly failure: string }

/** How long a worker may take to close its files. */
const GOODBYE_MS = 2_000
const THAW_AGAIN_MS = 20

/** The worker processes of one benchmark: the same program again, talking over Node's own channel. */
export class BenchProcesses {
  readonly #script: string
  readonly #children: ChildProcess[] = []
  #isOver = false

  /** `script` is the file that this program was started with. */
  constructor(script: string) {
    this.#script = script
  }

  readonly start = async (spec: WorkerSpec): Promise<BenchWorker> => {
    // An interrupted measurement may still be on its way to its next worker.
    if (this.#isOver) throw new RmqError('INTERRUPTED', 'the benchmark is over')
    const child = fork(this.#script, ['bench', 'worker'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#children.push(child)
    await answerTo(child, spec)
    // Node's types know no function that returns another promise for each order.
    const order = ((one: WorkerOrder) => answerTo(child, one)) as BenchWorker['order']
    return { order, thaw: () => thaw(child) }
  }

  startTeam(spec: Omit<WorkerSpec, 'index'>, size: number): Promise<BenchWorker[]> {
    return Promise.all(Array.from({ length: size }, (_, index) => this.start({ ...spec, index })))
  }

  /** Lets all workers go, and resolves when they are gone: they close their files, or are killed. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#children.map(letGo))
  }
}

/** It may come to its stop only now, behind its answer: told again until it answers something. */
async function thaw(child: ChildProcess): Promise<void> {
  child.kill('SIGCONT')
  const again = setInterval(() => child.kill('SIGCONT'), THAW_AGAIN_MS)
  try {
    await answerTo(child, { do: 'memory' })
  } finally {
    clearInterval(again)
  }
}

async function letGo(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  // A frozen one would hear of nothing.
  child.kill('SIGCONT')
  if (child.connected) child.disconnect()
  const kill = setTimeout(() => child.kill('SIGKILL'), GOODBYE_MS)
  await gone
  clearTimeout(kill)
}

/** One order at a time: the next message is its answer. */
async function answerTo(child: ChildProcess, order: WorkerSpec | WorkerOrder): Promise<unknown> {
  const answered = new AbortController()
  try {
    const answer = once(child, 'message', { signal: answered.signal }).then(
      ([message]) => message as WorkerMessage,
    )
    const exit = once(child, 'exit', { signal: answered.signal }).then(([code, signal]): WorkerMessage => {
      return { failure: `it ended with ${signal ?? `exit ${code}`}` }
    })
    child.send(order)
    const message = await Promise.race([answer, exit])
    if ('value' in message) return message.value
    throw new RmqError('IO_ERROR', 'a process of the benchmark failed', { why: message.failure })
  } finally {
    answered.abort()
  }
}
