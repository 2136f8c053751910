import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { cleanEnv, LIBRARY, startRmq } from '../../helpers/rmq.ts'
import { Kills } from './kills.ts'
import type { HandlerPlan } from './plan.ts'

const COMPLAINTS_MAX = 4000
const UNTIL_MS = 60_000
const LOOK_MS = 100

interface Member {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  complaints: string
  isStopping: boolean
}

/** The members of a group as processes, each at a post that is taken by a new one when it is killed. */
export class Crew {
  readonly kills = new Kills()
  /** Of members that ended unasked, or did not end well. */
  readonly problems: string[] = []
  readonly #posts: readonly (() => ChildProcess)[]
  readonly #members: Member[]

  constructor(posts: readonly (() => ChildProcess)[]) {
    this.#posts = posts
    this.#members = posts.map((start) => this.#begin(start))
    onTestFinished(async () => {
      for (const { child } of this.#members) child.kill('SIGKILL')
      await Promise.all(this.#members.map(({ exited }) => exited))
    })
  }

  get size(): number {
    return this.#posts.length
  }

  /** Of the member with this pid; -1 when it has none. */
  postOf(pid: number | undefined): number {
    return this.#members.findIndex(({ child }) => child.pid === pid)
  }

  /** kill -9, and another one takes its post at once. */
  async kill(post: number): Promise<void> {
    const member = this.#members[post] as Member
    this.kills.killed(member.child.pid as number)
    member.child.kill('SIGKILL')
    await member.exited
    this.#members[post] = this.#begin(this.#posts[post] as () => ChildProcess)
  }

  /** All at once: nobody is left to take over, or to move what is due. */
  async killAll(): Promise<void> {
    await Promise.all(this.#members.map((_, post) => this.kill(post)))
  }

  /** SIGTERM; another one takes its post when it has ended as it should. */
  async replace(post: number): Promise<void> {
    const member = this.#members[post] as Member
    member.isStopping = true
    member.child.kill('SIGTERM')
    await member.exited
    this.#judgeEnd(member)
    this.#members[post] = this.#begin(this.#posts[post] as () => ChildProcess)
  }

  /** Waits until it is so, while all members do well. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + UNTIL_MS
    while (!(await isSo())) {
      const said = () => this.#members.map(({ complaints }) => complaints).join('\n')
      if (this.problems.length > 0) throw new Error(this.problems.join('\n'))
      if (Date.now() > deadline) throw new Error(`it did not come to that in ${UNTIL_MS} ms: ${said()}`)
      await sleep(LOOK_MS)
    }
  }

  /** Asks all to end, and waits for it. */
  async stop(): Promise<void> {
    for (const member of this.#members) {
      member.isStopping = true
      member.child.kill('SIGTERM')
    }
    for (const member of this.#members) {
      await member.exited
      this.#judgeEnd(member)
    }
  }

  #judgeEnd({ child, complaints }: Member): void {
    // By the signal itself: it had just been started, and listened to none yet.
    if (child.exitCode !== 0 && child.signalCode !== 'SIGTERM')
      this.problems.push(`ended with ${how(child)} when asked to: ${complaints}`)
  }

  #begin(start: () => ChildProcess): Member {
    const child = start()
    const member: Member = { child, exited: once(child, 'exit'), complaints: '', isStopping: false }
    this.kills.began(child.pid as number)
    child.stdout?.resume()
    child.stderr?.on('data', (chunk) => {
      member.complaints = (member.complaints + chunk).slice(-COMPLAINTS_MAX)
    })
    void member.exited.then(() => {
      if (member.isStopping || child.signalCode === 'SIGKILL') return
      this.problems.push(`ended with ${how(child)} unasked: ${member.complaints}`)
    })
    return member
  }
}

/** A member with a handler in its process, by the library. `options` are those of its consumer. */
export function libraryMember(
  db: string,
  mode: 'orderly' | 'concurrent',
  plan: HandlerPlan,
  options: object,
): () => ChildProcess {
  const path = fileURLToPath(new URL('member.mjs', import.meta.url))
  const args = [path, LIBRARY, db, mode, JSON.stringify(plan), JSON.stringify(options)]
  return () => spawn(process.execPath, args, { env: cleanEnv(), stdio: ['ignore', 'ignore', 'pipe'] })
}

/** `rmq consume t -g g …`. */
export function commandMember(db: string, ...args: string[]): () => ChildProcess {
  return () => {
    const child = startRmq(['consume', 't', '-g', 'g', ...args], { db })
    child.stdin?.on('error', () => {})
    child.stdin?.end()
    return child
  }
}

function how({ exitCode, signalCode }: ChildProcess): string {
  return String(exitCode ?? signalCode)
}
