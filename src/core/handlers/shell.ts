import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { RmqError } from '../model/errors.ts'
import type { HandlerProcess } from '../model/lock.ts'
import { startTimeOf } from '../process-table.ts'
import { describeEnd, type ProcessEnd } from './process-end.ts'

const SHELL = '/bin/sh'

/**
 * Waits for a word on descriptor 3. When its parent dies first it reads the end of the stream and leaves, and the
 * command never ran. The command is an argument and never part of this text, so nothing in it is read twice.
 */
const GATE = `IFS= read -r word <&3 && [ "$word" = go ] || exit 75; exec 3<&-; exec ${SHELL} -c "$1"`

export interface ShellOptions {
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  /** Stdin, stdout and stderr. */
  readonly stdio: readonly [stdin: number | 'pipe', stdout: 'pipe' | 'inherit', stderr: 'pipe']
}

export interface Shell {
  readonly child: ChildProcess
  /** Leader of a process group of its own: a Ctrl-C at the terminal does not reach it, and all of it can be ended. */
  readonly process: HandlerProcess
}

/** A shell that has not begun. */
export interface GatedShell extends Shell {
  /** Lets the command run. */
  go(): void
  /** Leaves without running the command. */
  cancel(): void
}

/** Runs `command` as `sh -c` does. HANDLER_FAILED when no process can be started. */
export function startShell(options: ShellOptions): Promise<Shell> {
  return start(options, ['-c', options.command], [...options.stdio])
}

/** The same, but nothing of the command happens before `go`, nor after the death of this process. */
export async function startGatedShell(options: ShellOptions): Promise<GatedShell> {
  const shell = await start(options, ['-c', GATE, 'rmq', options.command], [...options.stdio, 'pipe'])
  const gate = shell.child.stdio[3]
  if (!(gate instanceof Socket)) throw cannotStart(options.command, new Error('the gate is missing'))
  // A shell that was killed meanwhile tells by its exit, not by a broken pipe.
  gate.on('error', () => {})
  // Read, so that its end is noticed: a stream that nobody reads never closes, and its child never does either.
  gate.resume()
  return { ...shell, go: () => gate.end('go\n'), cancel: () => gate.destroy() }
}

async function start(
  options: ShellOptions,
  args: readonly string[],
  stdio: SpawnOptions['stdio'],
): Promise<Shell> {
  const { command, env } = options
  try {
    const child = spawn(SHELL, args, { env, stdio: stdio ?? 'pipe', detached: true })
    if (child.pid === undefined) {
      const [error] = await once(child, 'error').catch((reason: unknown) => [reason])
      throw error
    }
    // Later errors are failed signals and the like: the end of the process tells what matters.
    child.on('error', () => {})
    return { child, process: { pid: child.pid, startTime: startTimeOf(child.pid) } }
  } catch (error) {
    throw cannotStart(command, error)
  }
}

function cannotStart(command: string, cause: unknown): RmqError {
  return new RmqError('HANDLER_FAILED', `no process could be started for the handler: ${command}`, {
    why: cause instanceof Error ? cause.message : String(cause),
    hint: 'check the working directory, the size of the environment, and the limits on processes and files',
    cause,
  })
}

/** The shell could not run the command: no message is to blame. */
export function notRunnable(command: string, end: ProcessEnd, stderr: string): RmqError {
  return new RmqError('HANDLER_NOT_FOUND', `the handler cannot be run (${describeEnd(end)}): ${command}`, {
    ...(stderr === '' ? undefined : { why: stderr }),
    hint: 'run the command by hand: 127 means that a program was not found, 126 that it may not be executed',
    details: { command, exitCode: end.code },
  })
}
