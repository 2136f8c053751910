import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import type { Broker } from '../../src/core/index.ts'
import { startRmq } from './rmq.ts'

/** How long a test waits for what must come; long, because the machine may be busy. */
export const PATIENCE = { timeout: 20_000, interval: 20 }

/** `rmq` as a process that a test talks to with signals. It is killed when the test ends. */
export class RunningRmq {
  readonly child: ChildProcess
  /** Exit code and signal, when both its pipes are read to their end. */
  readonly ended: Promise<unknown[]>
  stdout = ''
  stderr = ''

  constructor(db: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = startRmq(args, { db, env })
    this.child.stdin?.on('error', () => {})
    this.ended = once(this.child, 'close')
    this.child.stdout?.on('data', (chunk) => {
      this.stdout += chunk
    })
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += chunk
    })
    // Not its pipes: a handler that outlives it may hold them.
    const exited = once(this.child, 'exit')
    onTestFinished(async () => {
      this.child.kill('SIGKILL')
      await exited
    })
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.child.kill(signal)) throw new Error(`it had ended already: ${this.stderr}`)
  }

  /** Resolves as soon as stdout holds the text. */
  async prints(text: string): Promise<void> {
    while (!this.stdout.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`it ended before it printed ${text}: ${this.stderr}`)
      }
      await Promise.race([once(this.child.stdout as NodeJS.ReadableStream, 'data'), this.ended])
    }
  }

  /** Waits until stderr says this. */
  says(pattern: RegExp): Promise<void> {
    return expect.poll(() => this.stderr, PATIENCE).toMatch(pattern)
  }
}

/** `rmq consume TOPIC -g g --orderly …`. */
export function startConsumer(db: string, topic: string, ...args: string[]): RunningRmq {
  const consumer = new RunningRmq(db, ['consume', topic, '-g', 'g', '--orderly', ...args])
  consumer.child.stdin?.end()
  return consumer
}

/** Waits until the members of group `g` are these. */
export function untilMembers(broker: Broker, clientIds: readonly string[]): Promise<void> {
  const ids = async () => (await broker.members('g')).map(({ clientId }) => clientId).sort()
  return expect.poll(ids, PATIENCE).toEqual([...clientIds].sort())
}

/** Waits until every queue of group `g` is held by this member. */
export function untilOwner(broker: Broker, clientId: string): Promise<void> {
  const owners = async () => [
    ...new Set((await broker.listLocks({ group: 'g' })).map((lock) => lock.clientId)),
  ]
  return expect.poll(owners, PATIENCE).toEqual([clientId])
}
