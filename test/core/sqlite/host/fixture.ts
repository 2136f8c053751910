import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ProcessIdentity } from '../../../../src/core/model/lock.ts'

const PEER = fileURLToPath(new URL('peer.ts', import.meta.url))

/** A second process with a host of its own. It does one thing, says so on a line, and stays until it is ended. */
export interface Peer {
  readonly child: ChildProcess
  readonly identity: ProcessIdentity
  /** The next line it prints. */
  line(): Promise<string>
  say(command: string): void
  kill(): Promise<void>
}

export async function startPeer(
  dbPath: string,
  job: 'hold' | 'hold-and-collect' | 'touch' | 'idle',
  wrapper: readonly string[] = [],
): Promise<Peer> {
  const nodeArgs = ['--expose-gc', '--import', 'tsx', PEER, dbPath, job]
  const [command, ...args] = [...wrapper, process.execPath, ...nodeArgs]
  const child = spawn(command ?? '', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async () => {
    const next = await lines.next()
    if (next.done) throw new Error(`the peer (${job}) ended`)
    return next.value
  }
  const identity = JSON.parse(await line()) as ProcessIdentity
  return {
    child,
    identity,
    line,
    say: (text) => child.stdin.write(`${text}\n`),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'rmq-host-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`never happened: ${what}`)
}
