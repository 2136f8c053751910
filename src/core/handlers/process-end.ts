import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Runtime } from '../model/runtime.ts'
import { sleep } from '../model/runtime.ts'
import { isGroupRunning, signalGroup } from '../process-table.ts'

/** How a process ended. Exactly one of the two is set. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a shell says when it cannot run a command: not executable, not found. */
const NOT_RUNNABLE_EXIT_CODES: readonly (number | null)[] = [126, 127]

/** Output may still lie in a pipe when its writer has ended; a grandchild may hold the pipe open for ever. */
const OUTPUT_GRACE_MS = 100
const GROUP_LOOK_MS = 20

export function describeEnd(end: ProcessEnd): string {
  return end.signal === null ? `exit ${end.code}` : `signal ${end.signal}`
}

export function isNotRunnable(end: ProcessEnd): boolean {
  return NOT_RUNNABLE_EXIT_CODES.includes(end.code)
}

/**
 * Resolves when the process has ended and its output was read, or did not end within a short time after it.
 * What is still open then no longer keeps this process alive.
 */
export function endOf(child: ChildProcess, runtime: Runtime): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const finish = () => {
        cancel()
        for (const stream of child.stdio) if (stream instanceof Socket) stream.unref()
        resolve({ code, signal })
      }
      const cancel = runtime.setTimer(OUTPUT_GRACE_MS, finish)
      child.once('close', finish)
    })
  })
}

/** Ends a process group: TERM to all of it, KILL to what is left after `graceMs`. Resolves when none of it runs. */
export async function endGroup(processGroup: number, graceMs: number, runtime: Runtime): Promise<void> {
  if (!isGroupRunning(processGroup)) return
  signalGroup(processGroup, 'SIGTERM')
  const killAt = runtime.monotonic() + graceMs
  for (let isKilled = false; isGroupRunning(processGroup); await sleep(runtime, GROUP_LOOK_MS)) {
    if (runtime.monotonic() < killAt) continue
    // Nothing survives a KILL, but a process in a system call that hangs may take its time; it is not waited for.
    if (isKilled) return
    signalGroup(processGroup, 'SIGKILL')
    isKilled = true
  }
}
