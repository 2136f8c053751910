import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildOnce } from './build-once.ts'

const BUILD = await buildOnce()
/** The program as it is built, for tests that start it in a way of their own. */
export const RUN = join(BUILD, 'bin', 'run.js')
/** The library of the same build. */
export const LIBRARY = join(BUILD, 'dist', 'core', 'index.js')

export interface RmqOptions {
  /** Database file, as RMQ_DB. */
  readonly db?: string
  /** All of stdin. Without it stdin is empty. */
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** After this time the process is killed and the run fails. Default 20 s. */
  readonly timeoutMs?: number
}

export interface RmqResult {
  /** `null` when a signal ended it. */
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  readonly stdoutBytes: Buffer
}

/** Runs the built program as a real process and waits for its end. No pipe of it is a terminal. */
export function rmq(args: readonly string[], options: RmqOptions = {}): Promise<RmqResult> {
  const child = startRmq(args, options)
  const timeoutMs = options.timeoutMs ?? 20_000
  return new Promise((resolve, reject) => {
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout?.on('data', (chunk) => out.push(chunk))
    child.stderr?.on('data', (chunk) => err.push(chunk))
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(
        new Error(`rmq ${args.join(' ')} still ran after ${timeoutMs} ms; stderr: ${Buffer.concat(err)}`),
      )
    }, timeoutMs)
    child.on('error', reject)
    child.on('close', (status, signal) => {
      clearTimeout(timer)
      const stdoutBytes = Buffer.concat(out)
      resolve({
        status,
        signal,
        stdout: stdoutBytes.toString(),
        stderr: Buffer.concat(err).toString(),
        stdoutBytes,
      })
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(options.input)
  })
}

/** Starts it and leaves the rest to the caller, who must see to its end. stdin is a pipe that stays open. */
export function startRmq(args: readonly string[], options: RmqOptions = {}): ChildProcess {
  return spawn(process.execPath, [RUN, ...args], {
    env: cleanEnv(options),
    ...(options.cwd === undefined ? undefined : { cwd: options.cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

const SHAPING = /^(RMQ_.*|NODE_ENV|NODE_OPTIONS|NO_COLOR|FORCE_COLOR|CI|XDG_.*|VITEST.*)$/

/** The environment without what shapes rmq, so that a test sees the same everywhere. */
export function cleanEnv(options: Pick<RmqOptions, 'db' | 'env'> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !SHAPING.test(name))
  return {
    ...Object.fromEntries(inherited),
    // A test that forgets its database must not find the user's.
    XDG_DATA_HOME: '/nonexistent',
    ...(options.db === undefined ? undefined : { RMQ_DB: options.db }),
    ...options.env,
  }
}
